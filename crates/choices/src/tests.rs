use std::path::Path;

use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

fn chooser() -> Chooser {
    Chooser {
        name: "gpt".into(),
        form: Some("board".into()),
        mask: Some("none".into()),
        seed: Some(3),
        ..Chooser::default()
    }
}

fn write(path: &Path, rows: &[Choice]) {
    let mut writer = ChoicesWriter::create(path, &chooser()).unwrap();
    rows.iter().for_each(|row| writer.push(row.clone()).unwrap());
    writer.finish().unwrap();
}

fn correctness() -> impl Strategy<Value = Correctness> {
    any::<[bool; 3]>().prop_map(|[valid, legal, best]| Correctness { valid, legal, best })
}

fn choice() -> impl Strategy<Value = Choice> {
    let position = (any::<u64>(), any::<Option<u64>>(), any::<Option<u32>>(), "[a-z/ ]{0,9}", any::<[u16; 2]>());
    let forced = (proptest::option::of("[a-z1-8]{0,5}"), proptest::option::of(correctness()));
    let found = (any::<Option<bool>>(), any::<Option<u16>>(), proptest::option::of(0.0..9.0f64));
    let mask = (any::<Option<bool>>(), proptest::option::of(0.0..9.0f64));
    (position, found, forced, ("[a-z1-8]{0,5}", correctness()), mask).prop_map(
        |(
            (record, game, t, fen, [legal_moves, best]),
            (seen, tokens, loss),
            (forced_text, forced),
            (text, free),
            mask,
        )| {
            let (mask_best, mask_loss) = mask;
            Choice {
                record,
                game,
                t,
                fen,
                legal_moves,
                best,
                seen,
                loss,
                tokens,
                forced_text,
                forced,
                text,
                free,
                mask_best,
                mask_loss,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_was_written_is_read_and_equal_rows_are_equal_bytes(rows in proptest::collection::vec(choice(), 0..20)) {
        let folder = tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| write(path, &rows));
        let choices = Choices::open(&paths[0]).unwrap();
        prop_assert_eq!(choices.description(), &chooser());
        prop_assert_eq!(choices.total(), rows.len() as u64);
        prop_assert_eq!(choices.collect::<Result<Vec<_>, _>>().unwrap(), rows);
        prop_assert_eq!(std::fs::read(&paths[0]).unwrap(), std::fs::read(&paths[1]).unwrap());
    }
}

#[test]
fn an_arm_is_form_and_mask_or_the_name_of_another_program() {
    assert_eq!(chooser().arm(), "board/none");
    assert_eq!(Chooser { mask: None, ..chooser() }.arm(), "board");
    assert_eq!(Chooser { name: "llama".into(), ..Chooser::default() }.arm(), "llama");
}

#[test]
fn other_files_are_errors_in_words() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "text").unwrap();
    let message = Choices::open(&path).err().unwrap().message;
    assert!(message.contains("file is not a choices file: "), "{message}");
    assert!(Choices::open(&folder.path().join("absent")).is_err());
}
