//! Files that are damaged, on purpose or not.

use super::*;

fn one_game(folder: &Path) -> (PathBuf, PathBuf) {
    write(folder, &many(3)[2..], SHARD_GAMES)
}

#[test]
fn a_folder_without_its_first_or_a_middle_file_is_refused() {
    let folder = tempdir().unwrap();
    let error = Dataset::open(folder.path()).unwrap_err();
    assert!(error.to_string().ends_with("holds no dataset-00000.arrow"), "{error}");
    let (games, _) = write(folder.path(), &many(9), 3);
    fs::remove_file(games.join("games-00001.arrow")).unwrap();
    let error = Games::open(&games).unwrap_err();
    assert!(error.to_string().ends_with("holds no games-00001.arrow"), "{error}");
}

#[test]
fn another_format_another_version_and_cuts_are_reported() {
    let folder = tempdir().unwrap();
    let (games, dataset) = one_game(folder.path());
    let bytes = fs::read(dataset.join("dataset-00000.arrow")).unwrap();
    let read_as_games = |bytes: &[u8]| {
        fs::write(games.join("games-00000.arrow"), bytes).unwrap();
        Games::open(&games).unwrap_err().to_string()
    };
    assert!(read_as_games(&bytes).ends_with("is not a games file: its header declares a dataset file"));
    assert!(read_as_games(b"PK").ends_with("is not a games file: it is too short"));
    for length in 0..bytes.len() {
        assert!(read_as_games(&bytes[..length]).contains("is not a games file"));
    }

    static NEWER: format::ShardFormat =
        format::ShardFormat { name: "games", version: 3, columns: &[], positions_beyond_list: 1 };
    static OLDER: format::ShardFormat =
        format::ShardFormat { name: "games", version: 1, columns: &[], positions_beyond_list: 1 };
    for (format, hint) in [
        (&NEWER, "use the newer cwm that wrote it"),
        (&OLDER, "make it anew: run `parse`, `split` and `tokenize` with this cwm"),
    ] {
        let folder = folder.path().join(format.version.to_string());
        writer::ShardFiles::create(format, &folder, 1).unwrap().finish().unwrap();
        let failure = cwm_contract::Failure::from(Games::open(&folder).unwrap_err());
        let expected = format!("is of version {} of the games format, and this cwm reads version 2", format.version);
        assert!(failure.message.ends_with(&expected), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some(hint));
    }
}

#[test]
fn files_with_and_without_labels_do_not_stand_together() {
    let folder = tempdir().unwrap();
    let (games, _) = write(folder.path(), &many(2), 1);
    let mut labelled = many(2);
    labelled[1].labelled = true;
    let (other, _) = write(&folder.path().join("other"), &labelled, 1);
    fs::copy(other.join("games-00001.arrow"), games.join("games-00001.arrow")).unwrap();
    let error = Games::open(&games).unwrap_err().to_string();
    assert!(error.ends_with("it has labels and the first file has not, or the other way round"), "{error}");
}

/// Reads all there is, in all ways; says whether there was an error.
fn read_all(folder: &Path) -> bool {
    let Ok(dataset) = Dataset::open(folder) else { return true };
    let mut failed = false;
    for at in (0..dataset.len().min(10_000)).rev() {
        failed |= dataset.tokens(at).is_err();
        match dataset.get(at) {
            Ok(game) => drop(game.unwrap().row().labels.map(<[u8]>::to_vec)),
            Err(_) => failed = true,
        }
    }
    failed | dataset.iter().take(10_000).any(|game| game.is_err())
}

#[test]
fn any_flipped_byte_is_an_error_or_harmless() {
    let folder = tempdir().unwrap();
    let mut rows = many(25);
    rows[7].labelled = true;
    let (_, dataset) = write(folder.path(), &rows, SHARD_GAMES);
    let path = dataset.join("dataset-00000.arrow");
    let bytes = fs::read(&path).unwrap();
    let mut refused = 0;
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= [0x01, 0x80, 0xff][at % 3];
        fs::write(&path, damaged).unwrap();
        refused += usize::from(read_all(&dataset));
    }
    assert!(refused > 500, "{refused}");
}

/// Numbers that a liar would write.
const LIES: &[i64] = &[0, 1, -1, 2, 8, 64, 1 << 20, i32::MAX as i64, i64::MAX, i64::MIN, 1 << 40];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_damage_is_an_error_or_harmless(
        rows in prop::collection::vec(row(), 1..30),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(LIES), 1..=8usize), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempdir().unwrap();
        let (_, dataset) = write(folder.path(), &rows, SHARD_GAMES);
        let path = dataset.join("dataset-00000.arrow");
        let mut bytes = fs::read(&path).unwrap();
        for (at, number, width) in changes {
            let at = at.index(bytes.len() - width) / 4 * 4;
            bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
        }
        if let Some(cut) = cut {
            let (start, end) = (cut.index(bytes.len()), cut.index(bytes.len()) + 8);
            bytes.drain(start..end.min(bytes.len()));
        }
        fs::write(&path, bytes).unwrap();
        read_all(&dataset);
    }
}

/// Writes over the first buffer that claims to hold so many bytes.
fn claim(path: &Path, held: i64, claimed: i64) {
    let mut bytes = fs::read(path).unwrap();
    let at = memchr::memmem::find(&bytes, &held.to_le_bytes()).unwrap();
    bytes[at..at + 8].copy_from_slice(&claimed.to_le_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn buffers_that_claim_too_much_are_not_believed() {
    let folder = tempdir().unwrap();
    let (_, dataset) = write(folder.path(), &many(1_000), SHARD_GAMES);
    let path = dataset.join("dataset-00000.arrow");
    let original = fs::read(&path).unwrap();
    // The ids are 28,000 bytes, the numbers of a column 8,000.
    for (held, claimed, expected) in [
        (28_000, i64::MAX, "a buffer claims to hold 9223372036854775807 bytes; 33554432 are the most that it may"),
        (28_000, -2, "a buffer claims to hold -2 bytes"),
        (28_000, 28_001, "a buffer claims to hold 28001 bytes and holds 28000"),
        (28_000, 27_999, "a buffer cannot be decompressed: Destination buffer is too small"),
        (8_000, 8_000_000, "a buffer claims to hold 8000000 bytes; 8000 are the most that it may"),
        (8_000, 6_000, "a buffer cannot be decompressed: Destination buffer is too small"),
    ] {
        fs::write(&path, &original).unwrap();
        claim(&path, held, claimed);
        let dataset = Dataset::open(&dataset).unwrap();
        let error = dataset.get(5).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
        assert!(error.contains("dataset-00000.arrow is not a dataset file: record batch 0 at byte "), "{error}");
        assert_eq!(dataset.iter().filter(|game| game.is_err()).count(), 1_000);
        // Tokens are not compressed, and are read all the same.
        assert_eq!(dataset.tokens(5).unwrap().unwrap().len(), 6);
    }
}
