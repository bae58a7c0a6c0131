//! Shards as a whole: written, read back, read by others, damaged.

mod damage;
mod layout;
mod peer;

use std::fs;
use std::path::{Path, PathBuf};

use cwm_encoding::{LABELS, classes};
use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

/// A game of both formats.
#[derive(Clone, Debug)]
struct Row {
    index: u64,
    id: String,
    site: String,
    tokens: Vec<u16>,
    labelled: bool,
}

impl Row {
    /// The labels that it carries, if it does: no two positions alike.
    fn labels(&self) -> Option<Vec<u8>> {
        self.labelled.then(|| {
            let label = |at: usize| ((at / LABELS + at) % classes(at % LABELS)) as u8;
            (0..self.tokens.len() * LABELS).map(label).collect()
        })
    }

    fn result(&self) -> &'static str {
        if self.index.is_multiple_of(2) { "1-0" } else { "1/2-1/2" }
    }

    fn game<'a>(&'a self, labels: Option<&'a [u8]>) -> GameRow<'a> {
        let (id, site, moves) = (&self.id[..], &self.site[..], &self.tokens[1..]);
        GameRow { index: self.index, id, site, result: self.result(), moves, labels }
    }

    fn tokens<'a>(&'a self, labels: Option<&'a [u8]>) -> DatasetRow<'a> {
        DatasetRow { index: self.index, id: &self.id, tokens: &self.tokens, result: self.result(), labels }
    }
}

/// Writes `games` and `dataset` below `folder`.
fn write(folder: &Path, rows: &[Row], shard_games: u64) -> (PathBuf, PathBuf) {
    let labelled = rows.iter().any(|row| row.labelled);
    let paths = (folder.join("games"), folder.join("dataset"));
    let mut games = GamesWriter::create(&paths.0, shard_games).unwrap().labelled(labelled);
    let mut dataset = DatasetWriter::create(&paths.1, shard_games).unwrap().labelled(labelled);
    for row in rows {
        let labels = row.labels();
        games.push(row.game(labels.as_deref())).unwrap();
        dataset.push(row.tokens(labels.as_deref())).unwrap();
    }
    games.finish().unwrap();
    dataset.finish().unwrap();
    paths
}

/// As many games as asked for, of many lengths, with ids like real ones.
fn many(games: usize) -> Vec<Row> {
    let game = |at: usize| {
        let id = format!("cwm_{:024x}", (at as u128 + 1) * 0x9e37_79b9_7f4a_7c15_f39c_c061 % (1 << 96));
        let tokens = (0..at % 90 + 1).map(|ply| ((at * 31 + ply * 977) % 20480) as u16).collect();
        Row { index: at as u64, id, site: format!("https://lichess.org/{at:08}"), tokens, labelled: false }
    };
    (0..games).map(game).collect()
}

fn row() -> impl Strategy<Value = Row> {
    (any::<u64>(), "\\PC{0,12}", "\\PC{0,30}", prop::collection::vec(any::<u16>(), 1..60), any::<bool>())
        .prop_map(|(index, id, site, tokens, labelled)| Row { index, id, site, tokens, labelled })
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_written_is_read_back_from_any_place(
        rows in prop::collection::vec(row(), 0..40),
        shard_games in 1..12u64,
        labelled in any::<bool>(),
    ) {
        let rows: Vec<Row> = rows.into_iter().map(|row| Row { labelled: row.labelled && labelled, ..row }).collect();
        let folder = tempdir().unwrap();
        let paths = write(folder.path(), &rows, shard_games);
        let (games, dataset) = (Games::open(&paths.0).unwrap(), Dataset::open(&paths.1).unwrap());
        let shards = rows.len().div_ceil(shard_games as usize).max(1);
        prop_assert_eq!(names(&paths.0).len(), shards);
        prop_assert_eq!(names(&paths.1).len(), shards);
        prop_assert_eq!((games.len(), dataset.len()), (rows.len(), rows.len()));
        prop_assert_eq!(games.labelled(), rows.iter().any(|row| row.labelled));
        prop_assert_eq!(dataset.positions(), rows.iter().map(|row| row.tokens.len() as u64).sum::<u64>());
        for (at, row) in rows.iter().enumerate().rev() {
            let labels = row.labels();
            let (game, tokens) = (games.get(at).unwrap().unwrap(), dataset.get(at).unwrap().unwrap());
            prop_assert_eq!(game.row(), row.game(labels.as_deref()));
            prop_assert_eq!(tokens.row(), row.tokens(labels.as_deref()));
            prop_assert_eq!(dataset.tokens(at).unwrap(), Some(&row.tokens[..]));
        }
        prop_assert!(games.get(rows.len()).unwrap().is_none() && dataset.get(rows.len()).unwrap().is_none());
        prop_assert!(dataset.tokens(rows.len()).unwrap().is_none());
        let indices: Vec<u64> = games.iter().map(|game| game.unwrap().row().index).collect();
        prop_assert!(indices.iter().eq(rows.iter().map(|row| &row.index)));
        let positions: u64 = dataset.iter().map(|game| game.unwrap().row().tokens.len() as u64).sum();
        prop_assert_eq!(positions, dataset.positions());
    }
}

#[test]
fn batches_end_where_shards_do_and_any_game_is_found() {
    let rows = many(40_000);
    let folder = tempdir().unwrap();
    let (_, path) = write(folder.path(), &rows, 18_000);
    assert_eq!(names(&path), ["dataset-00000.arrow", "dataset-00001.arrow", "dataset-00002.arrow"]);
    let dataset = Dataset::open(&path).unwrap();
    for at in [0, 16_383, 16_384, 17_999, 18_000, 34_383, 34_384, 35_999, 36_000, 39_999] {
        let game = dataset.get(at).unwrap().unwrap();
        assert_eq!(
            (game.row().index, game.row().id, game.row().tokens),
            (at as u64, &rows[at].id[..], &rows[at].tokens[..])
        );
    }
    assert!(dataset.iter().zip(&rows).all(|(game, row)| game.unwrap().row().id == row.id));
    // More batches than are kept, asked for across each other.
    let far = (0..200).map(|step| step * 7_919 % 40_000);
    assert!(far.into_iter().all(|at| dataset.get(at).unwrap().unwrap().row().index == at as u64));
}

#[test]
fn a_game_that_does_not_fit_is_refused_and_the_rest_is_kept() {
    let folder = tempdir().unwrap();
    let mut games = GamesWriter::create(&folder.path().join("games"), 9).unwrap().labelled(true);
    let labels = [1; 3 * LABELS];
    let game = GameRow { index: 4, id: "cwm", site: "", result: "*", moves: &[1, 2], labels: Some(&labels) };
    games.push(game).unwrap();
    let mut refused = |game| {
        let error = games.push(game).unwrap_err().to_string();
        assert!(error.starts_with("game 4 does not fit into ") && error.contains("games: "), "{error}");
        error.rsplit_once(": ").unwrap().1.to_owned()
    };
    assert_eq!(refused(GameRow { moves: &[1, 2, 3], ..game }), "it carries 225 bytes of labels, not 300");
    let mut wrong = labels;
    wrong[LABELS + 64] = 2;
    let wrong = GameRow { labels: Some(&wrong), ..game };
    assert_eq!(refused(wrong), "label 64 of its position 1 is 2, and has 2 classes");
    let long = "x".repeat((1 << 24) + 1);
    assert_eq!(refused(GameRow { site: &long, ..game }), "a text of 16777217 bytes is longer than 16777216");
    let long = vec![0; (1 << 24) + 1];
    assert_eq!(refused(GameRow { moves: &long, labels: None, ..game }), "its 16777217 moves are more than 16777216");
    games.finish().unwrap();
    let games = Games::open(&folder.path().join("games")).unwrap();
    assert_eq!((games.len(), games.get(0).unwrap().unwrap().row()), (1, game));

    let mut plain = GamesWriter::create(&folder.path().join("plain"), 9).unwrap();
    let error = plain.push(game).unwrap_err().to_string();
    assert!(error.ends_with(": it carries labels, for which there is no column"), "{error}");
}

#[test]
fn a_folder_of_no_games_remembers_whether_they_may_carry_labels() {
    for labelled in [false, true] {
        let folder = tempdir().unwrap();
        GamesWriter::create(folder.path(), 9).unwrap().labelled(labelled).finish().unwrap();
        let games = Games::open(folder.path()).unwrap();
        assert_eq!((games.len(), games.labelled()), (0, labelled));
        assert!(games.is_empty() && games.iter().next().is_none());
    }
}

#[test]
fn equal_games_give_equal_bytes() {
    let rows: Vec<Row> = many(20_000).into_iter().map(|row| Row { labelled: row.index % 5_000 == 3, ..row }).collect();
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let bytes = folders.each_ref().map(|folder| {
        let (games, dataset) = write(folder.path(), &rows, 15_000);
        [games, dataset]
            .map(|path| names(&path).into_iter().map(|name| fs::read(path.join(name)).unwrap()).collect::<Vec<_>>())
    });
    assert!(bytes[0] == bytes[1]);
}

#[test]
fn what_was_let_go_of_is_there_again() {
    let folder = tempdir().unwrap();
    let rows = many(500);
    let dataset = Dataset::open(&write(folder.path(), &rows, 130).1).unwrap();
    for round in 0..3 {
        for (at, row) in rows.iter().enumerate() {
            assert_eq!(dataset.tokens(at).unwrap(), Some(&row.tokens[..]), "round {round}");
            assert_eq!(dataset.get(at).unwrap().unwrap().row(), row.tokens(None));
        }
        dataset.release_pages();
    }
}
