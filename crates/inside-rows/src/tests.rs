use tempfile::tempdir;

use super::*;

#[test]
fn what_was_written_is_read() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    let of = TranspositionsDescription {
        plies: Some([2, 60]),
        sizes: [(1, 7), (2, 3)].into(),
        ..TranspositionsDescription::default()
    };
    let row = |game| Transposition { class: game / 2, key: format!("8/8/8/8/8/8/8/8 {game}"), game, ply: game + 4 };
    let rows: Vec<_> = (0..9_000).map(row).collect();
    let mut writer = TranspositionsWriter::create(&path, &of).unwrap();
    rows.iter().try_for_each(|row| writer.push(row.clone())).unwrap();
    writer.finish().unwrap();
    let reader = TranspositionsReader::open(&path).unwrap();
    assert_eq!(reader.description(), &of);
    assert_eq!(reader.collect::<Result<Vec<_>, _>>().unwrap(), rows);
    let message = LegalityReader::open(&path).err().unwrap().message;
    assert!(message.ends_with("is not a legality file: its metadata lack `cwm.legality`"), "{message}");

    let of =
        LegalityDescription { model: "gpt d16/l1".to_owned(), max_tokens: Some(64), ..LegalityDescription::default() };
    let full = Legality { game: 1, token: 2, ply: 3, phase: 4, right: true, legal: Some(true), ..Legality::default() };
    let full = Legality { loose: Some(false), mass: Some(0.25), loss: 1.5, ..full };
    let mut writer = LegalityWriter::create(&path, &of).unwrap();
    writer.push(full.clone()).unwrap();
    writer.push(Legality::default()).unwrap();
    writer.finish().unwrap();
    let reader = LegalityReader::open(&path).unwrap();
    assert_eq!(reader.description(), &of);
    assert_eq!(reader.collect::<Result<Vec<_>, _>>().unwrap(), [full, Legality::default()]);
}
