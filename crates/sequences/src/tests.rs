use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

type Row = (String, Vec<(u16, u16)>);

fn vocabulary() -> Vocabulary {
    Vocabulary { form: "letters".to_owned(), version: 3, inputs: 40, targets: 20, longest: 8 }
}

fn write(folder: &Path, rows: &[Row], shard_rows: u64) {
    let mut writer = SequencesWriter::create(folder, &vocabulary(), shard_rows).unwrap();
    for (id, places) in rows {
        let (tokens, targets): (Vec<u16>, Vec<u16>) = places.iter().copied().unzip();
        writer.push(Sequence { id, tokens: &tokens, targets: &targets }).unwrap();
    }
    writer.finish().unwrap();
}

fn read(folder: &Path) -> Vec<Row> {
    let sequences = Sequences::open(folder).unwrap();
    assert_eq!(sequences.vocabulary(), &vocabulary());
    let row =
        |row: Sequence<'_>| (row.id.to_owned(), row.tokens.iter().copied().zip(row.targets.iter().copied()).collect());
    let rows: Vec<Row> = sequences.iter().map(|sequence| row(sequence.unwrap())).collect();
    assert_eq!(rows.len(), sequences.len());
    assert_eq!(sequences.get(rows.len()).unwrap(), None);
    sequences.release_pages();
    assert_eq!(sequences.iter().map(|sequence| row(sequence.unwrap())).collect::<Vec<Row>>(), rows);
    rows
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let target = prop_oneof![0u16..20, Just(NO_LOSS)];
    proptest::collection::vec(("[a-zé:]{0,6}", proptest::collection::vec((0u16..40, target), 0..9)), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_was_written_is_read_and_equal_rows_are_equal_bytes(rows in rows(20), shard_rows in 0u64..8) {
        let folder = tempdir().unwrap();
        let folders = ["a", "b"].map(|name| folder.path().join(name));
        folders.iter().for_each(|folder| write(folder, &rows, shard_rows));
        prop_assert_eq!(read(&folders[0]), rows.clone());
        let files = folders.map(|folder| files(&folder));
        prop_assert_eq!(&files[0], &files[1]);
        prop_assert_eq!(files[0].len(), rows.len().div_ceil(shard_rows.max(1) as usize).max(1));
    }

    #[test]
    fn a_damaged_file_is_read_without_a_panic(rows in rows(6), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let folder = tempdir().unwrap();
        write(folder.path(), &rows, 100);
        let path = folder.path().join("sequences-00000.arrow");
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        std::fs::write(&path, bytes).unwrap();
        if let Ok(sequences) = Sequences::open(folder.path()) {
            sequences.iter().take(100).for_each(drop);
        }
    }
}

#[test]
fn every_byte_may_be_damaged() {
    let folder = tempdir().unwrap();
    write(folder.path(), &[("a".into(), vec![(1, 2), (3, NO_LOSS)]), ("b".into(), vec![(4, 5)])], 100);
    let path = folder.path().join("sequences-00000.arrow");
    let sound = std::fs::read(&path).unwrap();
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x81;
        std::fs::write(&path, bytes).unwrap();
        if let Ok(sequences) = Sequences::open(folder.path()) {
            sequences.iter().take(100).for_each(drop);
        }
    }
}

#[test]
fn arrows_own_reader_reads_several_batches() {
    let folder = tempdir().unwrap();
    let rows: Vec<Row> = (0..20_000u16).map(|row| (row.to_string(), vec![(row % 40, row % 20); 2])).collect();
    write(folder.path(), &rows, SHARD_ROWS);
    assert!(read(folder.path()) == rows);
    let file = std::fs::File::open(folder.path().join("sequences-00000.arrow")).unwrap();
    let batches: Vec<_> = arrow_ipc::reader::FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|batch| batch.num_rows()).collect::<Vec<_>>(), [16_384, 3_616]);
    let last = batches[1].column(1).as_list::<i32>().value(3_615);
    assert_eq!(last.as_primitive::<UInt16Type>().values(), &[19_999 % 40; 2]);
    assert_eq!(batches[1].column(0).as_string::<i32>().value(3_615), "19999");
}

#[test]
fn what_is_not_of_the_vocabulary_is_refused() {
    let folder = tempdir().unwrap();
    let mut writer = SequencesWriter::create(folder.path(), &vocabulary(), 9).unwrap();
    let mut message = |tokens: &[u16], targets: &[u16]| {
        writer.push(Sequence { id: "a", tokens, targets }).err().map(|failure| failure.message)
    };
    assert_eq!(message(&[39], &[19]), None);
    assert_eq!(message(&[40], &[0]).unwrap(), "sequence \"a\": token 40 is not one of the 40 of its vocabulary");
    assert_eq!(message(&[0], &[20]).unwrap(), "sequence \"a\": target 20 is not one of the 20 of its vocabulary");
    assert_eq!(message(&[0, 0], &[0]).unwrap(), "sequence \"a\": it has 2 tokens and 1 targets");
    assert_eq!(message(&[0; 8], &[0; 8]), None);
    assert_eq!(
        message(&[0; 9], &[0; 9]).unwrap(),
        "sequence \"a\": it has 9 tokens, more than the 8 of its vocabulary"
    );
}

#[test]
fn other_folders_are_errors_in_words() {
    let folder = tempdir().unwrap();
    let message = |folder: &Path| Sequences::open(folder).unwrap_err().message;
    assert!(message(folder.path()).ends_with("holds no sequences-00000.arrow"));
    let path = folder.path().join("sequences-00000.arrow");
    std::fs::write(&path, "text").unwrap();
    assert!(message(folder.path()).ends_with("sequences-00000.arrow is not a sequences file: it is too short"));
    std::fs::remove_file(&path).unwrap();
    write(folder.path(), &[("a".into(), Vec::new())], 9);
    std::fs::rename(&path, folder.path().join("sequences-00001.arrow")).unwrap();
    assert!(message(folder.path()).ends_with("holds no sequences-00000.arrow"));
    let others = Vocabulary { version: 4, ..vocabulary() };
    SequencesWriter::create(folder.path(), &others, 9).unwrap().finish().unwrap();
    assert!(message(folder.path()).ends_with("its vocabulary is not that of the first file"));
}
