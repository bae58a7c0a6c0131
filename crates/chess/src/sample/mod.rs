//! A few games that hold what games can hold, for the probes of stages (`docs/design/accept.md`): both castlings, captures
//! en passant, promotions to each piece, and lengths from 20 to 270 plies.

use std::path::Path;

use cwm_encoding::{PlainMove, START};
use shakmaty::uci::UciMove;

use crate::{DatasetRow, DatasetWriter, GameRow, GamesWriter, ShardError};

/// One game a line, moves as UCI has them, the longest first. Played at random with a preference for what is rare.
const GAMES: &str = include_str!("games.txt");

/// Results in turn.
const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];

/// The games' moves, the longest game first.
pub fn games() -> Vec<Vec<PlainMove>> {
    GAMES.lines().map(|line| line.split(' ').filter_map(plain).collect()).collect()
}

fn plain(word: &str) -> Option<PlainMove> {
    match word.parse() {
        Ok(UciMove::Normal { from, to, promotion }) => Some(PlainMove { from, to, promotion }),
        _ => None,
    }
}

/// Writes `games` as a dataset of its own at `folder`.
///
/// # Errors
/// An operation on the disk fails.
pub fn write_dataset<'g>(folder: &Path, games: impl IntoIterator<Item = &'g Vec<PlainMove>>) -> Result<(), ShardError> {
    let mut writer = DatasetWriter::create(folder, crate::SHARD_GAMES)?;
    for (index, game) in games.into_iter().enumerate() {
        let tokens: Vec<u16> = std::iter::once(START).chain(game.iter().map(|one| one.token())).collect();
        let (id, result) = (format!("sample_{index:04}"), RESULTS[index % RESULTS.len()]);
        writer.push(DatasetRow { index: index as u64, id: &id, tokens: &tokens, result, labels: None })?;
    }
    writer.finish()
}

/// Writes the games of [`games`] as two datasets that have no game in common, two of three to `train` and the third to `test`.
///
/// # Errors
/// An operation on the disk fails.
pub fn write_train_and_test(train: &Path, test: &Path) -> Result<(), ShardError> {
    for (folder, of_train) in [(train, true), (test, false)] {
        let mut writer = DatasetWriter::create(folder, crate::SHARD_GAMES)?;
        for (index, game) in games().iter().enumerate().filter(|(index, _)| (index % 3 != 2) == of_train) {
            let tokens: Vec<u16> = std::iter::once(START).chain(game.iter().map(|one| one.token())).collect();
            let id = format!("sample_{index:04}");
            writer.push(DatasetRow { index: index as u64, id: &id, tokens: &tokens, result: "*", labels: None })?;
        }
        writer.finish()?;
    }
    Ok(())
}

/// Writes `games` at `folder` as what `parse` makes of them.
///
/// # Errors
/// An operation on the disk fails.
pub fn write_games<'g>(folder: &Path, games: impl IntoIterator<Item = &'g Vec<PlainMove>>) -> Result<(), ShardError> {
    let mut writer = GamesWriter::create(folder, crate::SHARD_GAMES)?;
    for (index, game) in games.into_iter().enumerate() {
        let moves: Vec<u16> = game.iter().map(|one| one.packed()).collect();
        let (id, site) = (format!("sample_{index:04}"), format!("https://example.org/{index}"));
        let result = RESULTS[index % RESULTS.len()];
        writer.push(GameRow { index: index as u64, id: &id, site: &site, result, moves: &moves, labels: None })?;
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use shakmaty::{Chess, Position, Role};

    use super::*;

    #[test]
    fn the_games_are_legal_and_hold_what_is_rare() {
        let (mut castlings, mut en_passant, mut promotions) = ((false, false), false, Vec::new());
        for game in games() {
            let mut position = Chess::default();
            for one in game {
                let legal = cwm_encoding::legal(&position, one).expect("a legal move");
                castlings.0 |= legal.is_castle() && one.to > one.from;
                castlings.1 |= legal.is_castle() && one.to < one.from;
                en_passant |= legal.is_en_passant();
                promotions.extend(legal.promotion());
                position = position.play(legal).expect("a legal move");
            }
        }
        assert!(castlings == (true, true) && en_passant);
        assert!([Role::Queen, Role::Rook, Role::Bishop, Role::Knight].iter().all(|role| promotions.contains(role)));
        let lengths: Vec<usize> = games().iter().map(Vec::len).collect();
        assert_eq!(lengths, [270, 131, 66, 33, 24, 20]);
    }
}
