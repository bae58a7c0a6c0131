//! Blocks of games, each evaluated by one engine and kept in a file, so that an interruption loses the open ones alone.

use std::ops::Range;
use std::path::{Path, PathBuf};

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use cwm_evaluations::{Evaluation, Evaluations, EvaluationsWriter, Source};
use cwm_uci::Question;

use crate::analyst::Analyst;
use crate::positions::Selection;

/// Games of a block: some seconds of work.
const GAMES: usize = 16;

/// What is done with each block.
pub struct Blocks<'a> {
    /// The stage's context.
    pub context: &'a Context,
    /// All games.
    pub games: &'a Games,
    /// The number of them that are evaluated.
    pub count: usize,
    /// The positions that are asked about.
    pub selection: Selection,
}

impl Blocks<'_> {
    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.count.div_ceil(GAMES)
    }

    /// The games of a block.
    pub fn games_of(&self, block: usize) -> Range<usize> {
        block * GAMES..self.count.min((block + 1) * GAMES)
    }

    /// The rows of a block that is finished, whose records are not numbered yet; `None` if it is not.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn finished(&self, block: usize) -> Result<Option<Evaluations>, Failure> {
        let path = self.path(block);
        if path.try_exists()? { Evaluations::open(&path).map(Some) } else { Ok(None) }
    }

    /// Evaluates a block and keeps it. `asked` is called after each position.
    ///
    /// # Errors
    /// The engine fails, the disk refuses, or the stage was cancelled.
    pub fn evaluate(
        &self,
        block: usize,
        analyst: &mut Analyst,
        source: &Source,
        asked: &dyn Fn(),
    ) -> Result<(), Failure> {
        let path = self.path(block);
        let open = path.with_extension("open");
        let mut writer = EvaluationsWriter::create(&open, source)?;
        for index in self.games_of(block) {
            let game = self.games.get(index)?;
            let game = game.ok_or_else(|| Failure::internal(format!("there is no game {index}")))?;
            let game = game.row();
            for (t, position) in self.selection.of_game(&game)?.asked {
                self.context.check_cancelled()?;
                let question = Question::position(&position)?;
                let line = analyst.line(&question).map_err(|failure| {
                    let message = format!("game {} ({:?}), ply {t}: {}", game.index, game.id, failure.message);
                    Failure { message, ..failure }
                })?;
                writer.push(Evaluation {
                    record: 0,
                    game: Some(game.index),
                    id: game.id.to_owned(),
                    t: Some(t),
                    fen: question.fen(),
                    lines: vec![line],
                })?;
                asked();
            }
        }
        writer.finish()?;
        keep(&open, &path)
    }

    fn path(&self, block: usize) -> PathBuf {
        self.context.checkpoint_dir().join(format!("block-{block:07}.parquet"))
    }
}

/// Gives a file its final name once its bytes are on the disk.
fn keep(open: &Path, path: &Path) -> Result<(), Failure> {
    fs_err::File::open(open)?.sync_all()?;
    fs_err::rename(open, path)?;
    Ok(())
}
