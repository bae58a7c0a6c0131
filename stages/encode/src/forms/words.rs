//! A game as words of squares, alone or in blocks of joined games; the target at each place is the next word.

use cwm_contract::Failure;
use cwm_encoding::PlainMove;
use cwm_policy::inputs::words::{BEGIN, VOCABULARY, Words};
use cwm_policy::replay::replay;
use cwm_sequences::NO_LOSS;

use super::{Encoder, Form};
use crate::config::Config;
use crate::encoded_sequence::{EncodedSequence, Row};
use crate::labels::LabelledGame;

/// The form `words`.
pub const FORM: Form = Form {
    name: "words",
    version: 1,
    parts: &["words"],
    inputs: &["games"],
    vocabulary: (VOCABULARY as u16, VOCABULARY as u16),
    longest: |config| if config.has_blocks() { config.block_tokens } else { config.max_tokens },
    reasons: &[EMPTY, BEYOND, REST],
    encoder: Encoder::Games(encode),
};

/// Games without a move.
const EMPTY: &str = "empty_games";

/// Words behind the places of a row that is a game.
const BEYOND: &str = "tokens_beyond_context";

/// Words that fill no block.
const REST: &str = "tokens_beyond_blocks";

fn encode(games: &[LabelledGame], config: &Config) -> Result<Vec<EncodedSequence>, Failure> {
    let (mut encoded, mut played) = (Vec::new(), Vec::with_capacity(games.len()));
    for game in games {
        match game.moves.is_empty() {
            true => encoded.push(EncodedSequence::dropped(EMPTY)),
            false => played.push((game, ids(game).map_err(|wrong| game.failure(&wrong))?)),
        }
    }
    if config.has_blocks() {
        encoded.extend(blocks(&played, config.block_tokens));
    } else {
        encoded.extend(played.into_iter().map(|(game, ids)| row(game.id.clone(), ids, config.max_tokens)));
    }
    Ok(encoded)
}

/// The words of a game whose moves are legal.
fn ids(game: &LabelledGame) -> Result<Vec<u16>, String> {
    let mut moves = Vec::with_capacity(game.moves.len());
    replay(&game.moves, |_, _, played| {
        moves.extend(played.map(PlainMove::from));
        Ok(())
    })?;
    Ok(Words::of(moves).ids)
}

/// The first words of a game. Behind its last one another game begins.
fn row(id: String, mut tokens: Vec<u16>, most: usize) -> EncodedSequence {
    let mut targets = tokens[1..].to_vec();
    targets.push(BEGIN);
    let beyond = tokens.len().saturating_sub(most);
    tokens.truncate(most);
    targets.truncate(most);
    let dropped = (beyond > 0).then_some((BEYOND, beyond as u64));
    EncodedSequence { row: Some(Row { id, tokens, targets }), dropped, is_truncated: beyond > 0 }
}

/// The games one after another, in blocks. A block is named by the first of the games and its number among their blocks.
fn blocks(games: &[(&LabelledGame, Vec<u16>)], length: usize) -> Vec<EncodedSequence> {
    let Some((first, _)) = games.first() else { return Vec::new() };
    let stream: Vec<u16> = games.iter().flat_map(|(_, ids)| ids).copied().collect();
    let blocks = stream.chunks_exact(length);
    let rest = blocks.remainder().len();
    let row = |(number, block): (usize, &[u16])| {
        let targets = block[1..].iter().copied().chain([NO_LOSS]).collect();
        EncodedSequence::from(Row { id: format!("{}:{number}", first.id), tokens: block.to_vec(), targets })
    };
    let mut encoded: Vec<_> = blocks.enumerate().map(row).collect();
    encoded.push(EncodedSequence { dropped: Some((REST, rest as u64)), ..EncodedSequence::default() });
    encoded
}
