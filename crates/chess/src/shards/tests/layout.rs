//! The layout of the files.

use super::*;

#[test]
fn tokens_are_read_where_they_lie() {
    let rows = many(20_000);
    let folder = tempdir().unwrap();
    let (_, path) = write(folder.path(), &rows, SHARD_GAMES);
    let dataset = Dataset::open(&path).unwrap();
    // Arrays of the games of a batch follow each other in one piece of memory, 16,384 of them.
    let address = |game: usize| dataset.tokens(game).unwrap().unwrap().as_ptr();
    for game in (0..16_383).chain(16_384..19_999) {
        assert_eq!(address(game).wrapping_add(rows[game].tokens.len()), address(game + 1));
    }
    assert!(address(16_384).wrapping_sub(rows[16_383].tokens.len()) != address(16_383));
    // The same bytes are in the file, at the distance that the addresses have.
    let bytes = fs::read(path.join("dataset-00000.arrow")).unwrap();
    let find = |game: usize| {
        let tokens: Vec<u8> = rows[game].tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
        memchr::memmem::find(&bytes, &tokens).unwrap()
    };
    let (first, second) = (find(89), find(16_384 + 85));
    assert_eq!(address(16_384 + 85) as usize - address(89) as usize, second - first);
    // Asking again, or for the other columns, gives the same memory.
    assert_eq!(dataset.get(89).unwrap().unwrap().row().tokens.as_ptr(), address(89));
}

#[test]
fn a_dataset_has_two_bytes_a_ply_and_few_a_game() {
    let rows = many(50_000);
    let folder = tempdir().unwrap();
    let (_, path) = write(folder.path(), &rows, SHARD_GAMES);
    let plies: usize = rows.iter().map(|row| row.tokens.len() - 1).sum();
    let size = fs::metadata(path.join("dataset-00000.arrow")).unwrap().len() as usize;
    let beyond = (size - 2 * plies) as f64 / rows.len() as f64;
    assert!(beyond < 28.0, "{beyond} bytes a game beside its plies");
}

#[test]
fn few_labels_make_no_large_batches() {
    let rows: Vec<Row> = many(2_000).into_iter().map(|row| Row { labelled: true, ..row }).collect();
    let folder = tempdir().unwrap();
    let (_, path) = write(folder.path(), &rows, SHARD_GAMES);
    let file = fs::File::open(path.join("dataset-00000.arrow")).unwrap();
    let batches: Vec<_> =
        arrow_ipc::reader::FileReader::try_new(file, None).unwrap().map(|batch| batch.unwrap().num_rows()).collect();
    // A MiB of labels is 13,981 positions, and these games have 45 on average.
    assert!(batches.len() > 5 && batches.iter().all(|rows| *rows < 400), "{batches:?}");
}
