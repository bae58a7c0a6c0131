//! The run of `tokenize`.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_chess::{DatasetRow, DatasetWriter, GameRow, Games};
use cwm_contract::{Context, Failure};
use cwm_encoding::{PlainMove, START};
use serde_json::{Value, json};

use crate::SETS;
use crate::config::Config;
use crate::vocabulary::Vocabulary;

/// Games between two checks for cancellation.
const STRIDE: usize = 4096;

/// Reads the sets that are given and writes a dataset for each, and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let mut sets = BTreeMap::new();
    let mut all = SetStats::default();
    for (input, output) in SETS {
        if let Some(folder) = context.optional_input(input) {
            context.activity(format!("{output}: writing tokens"));
            let stats = tokenize(context, folder, context.output(output)?, config.shard_games)?;
            all.merge(&stats);
            let mut summary = stats.to_json();
            summary["moves"] = json!(stats.moves.hexadecimal());
            sets.insert(output, summary);
        }
    }
    if sets.is_empty() {
        return Err(Failure::input("tokenize has no games to work on").hint("give it `games`, `train` or `validation`"));
    }
    let counts = BTreeMap::from([("stage", json!("tokenize")), ("sets", json!(sets)), ("all", all.to_json())]);
    fs_err::write(context.output("counts")?, format!("{}\n", json!(counts)))?;
    Ok(())
}

/// Counts of a set of games, or of several together.
#[derive(Default)]
struct SetStats {
    games: u64,
    plies: u64,
    moves: Vocabulary,
}

impl SetStats {
    fn merge(&mut self, other: &SetStats) {
        self.games += other.games;
        self.plies += other.plies;
        self.moves.merge(&other.moves);
    }

    fn to_json(&self) -> Value {
        json!(BTreeMap::from([
            ("games", self.games),
            ("plies", self.plies),
            ("positions", self.plies + self.games),
            ("unique_moves", self.moves.len()),
        ]))
    }
}

/// Writes one dataset; returns its counts.
fn tokenize(context: &Context, input: &Path, output: &Path, shard_games: u64) -> Result<SetStats, Failure> {
    let games = Games::open(input)?;
    let mut writer = DatasetWriter::create(output, shard_games)?.labelled(games.labelled());
    let mut stats = SetStats::default();
    let mut tokens = Vec::new();
    let total = games.len() as u64;
    for (done, game) in games.iter().enumerate() {
        if done % STRIDE == 0 {
            context.check_cancelled()?;
            context.progress(done as u64, Some(total), "games");
        }
        let game = game?;
        let game = game.row();
        write_tokens(&game, &mut tokens)
            .map_err(|wrong| Failure::input(format!("game {done} ({}) of {} {wrong}", game.id, input.display())))?;
        tokens[1..].iter().for_each(|&token| stats.moves.add(token));
        stats.games += 1;
        stats.plies += game.moves.len() as u64;
        let GameRow { index, id, result, labels, .. } = game;
        writer.push(DatasetRow { index, id, tokens: &tokens, result, labels })?;
    }
    writer.finish()?;
    context.progress(total, Some(total), "games");
    Ok(stats)
}

/// Replaces `tokens` by START and the game's moves; the error names the ply that has no move.
fn write_tokens(game: &GameRow<'_>, tokens: &mut Vec<u16>) -> Result<(), String> {
    tokens.clear();
    tokens.push(START);
    for (ply, &packed) in (1..).zip(game.moves) {
        let plain =
            PlainMove::from_packed(packed).ok_or_else(|| format!("has no move at ply {ply} but {packed:#06x}"))?;
        tokens.push(plain.token());
    }
    Ok(())
}
