use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

/// The code of a stage: of base and one crate, and of some parts.
fn code(base: u8, parts: &[(&str, u8)]) -> Code {
    let entries = [("base".to_owned(), format!("b{base}")), ("crate cwm-split".to_owned(), format!("c{base}"))];
    entries
        .into_iter()
        .chain(parts.iter().map(|(part, digest)| (format!("part {part}"), format!("p{digest}"))))
        .collect()
}

fn change(old: &Code, new: &Code) -> AcceptedChange {
    let change = AcceptedChange::between("split", old, new).unwrap();
    AcceptedChange {
        by: "ada@host".into(),
        at: "2026-11-21T18:02:00Z".into(),
        why: Some("a \"comment\"".into()),
        ..change
    }
}

fn accepted(changes: &[(Code, Code)]) -> AcceptedChanges {
    let mut accepted = AcceptedChanges::default();
    changes.iter().for_each(|(old, new)| accepted.add(change(old, new)));
    accepted
}

#[test]
fn chains_are_followed_the_nearest_first_and_only_backwards() {
    let [one, two, three] = [1, 2, 3].map(|base| code(base, &[]));
    let accepted = accepted(&[(one.clone(), two.clone()), (two.clone(), three.clone())]);
    assert_eq!(accepted.older("split", &three), [two.clone(), one.clone()]);
    assert_eq!(accepted.older("split", &two), std::slice::from_ref(&one));
    assert_eq!(accepted.older("split", &one), Vec::<Code>::new());
    assert_eq!(accepted.older("parse", &three), Vec::<Code>::new(), "another kind");
}

#[test]
fn a_shared_change_holds_for_all_parts_and_a_part_s_change_for_that_one_in_that_state() {
    let shared = change(&code(1, &[("slice", 1)]), &code(2, &[("slice", 1)]));
    assert_eq!(shared.changed(), ["crate cwm-split"]);
    assert_eq!(shared.before(&code(2, &[("mamba2", 7)])), Some(code(1, &[("mamba2", 7)])));
    assert_eq!(shared.before(&code(3, &[("mamba2", 7)])), None);

    let part = change(&code(1, &[("slice", 1)]), &code(1, &[("slice", 2)]));
    assert_eq!(part.changed(), ["part slice"]);
    assert_eq!(part.before(&code(1, &[("slice", 2)])), Some(code(1, &[("slice", 1)])));
    assert_eq!(part.before(&code(1, &[("mamba2", 2)])), None, "another part");
    assert_eq!(part.before(&code(2, &[("slice", 2)])), None, "what it rests on is other code");
}

#[test]
fn a_crate_that_came_or_went_is_a_change() {
    let (old, mut new) = (code(1, &[]), code(2, &[]));
    new.insert("crate cwm-new".into(), "n".into());
    assert_eq!(change(&old, &new).before(&new), Some(old.clone()));
    assert_eq!(change(&new, &old).before(&old), Some(new));
    assert_eq!(AcceptedChange::between("split", &old, &old), None);
}

#[test]
fn the_file_is_a_line_a_change_and_both_sides_of_a_conflict_count() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = folder.path().join("pipeline.yaml");
    let path = folder.path().join(FILE_NAME);
    let [one, two, three] = [1, 2, 3].map(|base| code(base, &[]));
    let accepted = AcceptedChanges::for_pipeline(&yaml).unwrap();
    accepted.save(Vec::new(), &[]).unwrap();
    assert!(!path.exists(), "nothing is no file");
    let (first, second) = (change(&one, &two), change(&two, &three));
    accepted.save(vec![first.clone()], &[]).unwrap();
    accepted.save(vec![second.clone()], &[]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("\"split ")).count(), 2, "{text}");
    let read = AcceptedChanges::for_pipeline(&yaml).unwrap();
    assert_eq!(read.changes().count(), 2);
    assert!(read.changes().any(|change| *change == first) && read.problems().next().is_none());

    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('"')).collect();
    let conflict = format!("cwm-accepted: 1\n<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n", lines[0], lines[1]);
    fs::write(&path, conflict).unwrap();
    let both = AcceptedChanges::for_pipeline(&yaml).unwrap();
    assert_eq!((both.changes().count(), both.problems().count()), (2, 1), "{:?}", both);

    // A line that was edited by hand has the name of another change.
    fs::write(&path, text.replace("\"b1\"", "\"b9\"")).unwrap();
    let edited = AcceptedChanges::for_pipeline(&yaml).unwrap();
    assert_eq!((edited.changes().count(), edited.problems().count()), (1, 1), "{:?}", edited);
    fs::write(&path, "cwm-accepted: 2\n").unwrap();
    assert!(AcceptedChanges::for_pipeline(&yaml).unwrap_err().message.contains("format 2"));
    assert!(AcceptedChanges::for_pipeline(&PathBuf::from("accepted.yaml")).is_err(), "its lock file would be this one");
}

proptest! {
    /// For any changes in any order, also repeated and circular ones, those found are exactly those that can be reached
    /// backwards, and taking all of them back leaves none.
    #[test]
    fn what_is_found_is_what_can_be_reached(edges in prop::collection::vec((0u8..6, 0u8..6), 0..12), from in 0u8..6) {
        let changes: Vec<_> =
            edges.iter().filter(|(a, b)| a != b).map(|(a, b)| (code(*a, &[]), code(*b, &[]))).collect();
        let mut accepted = accepted(&changes);
        let mut reached = BTreeSet::from([from]);
        for _ in 0..6 {
            let more: Vec<u8> = edges.iter().filter(|(_, new)| reached.contains(new)).map(|(old, _)| *old).collect();
            reached.extend(more);
        }
        reached.remove(&from);
        let found = accepted.older("split", &code(from, &[]));
        let expected: BTreeSet<Code> = reached.iter().map(|base| code(*base, &[])).collect();
        prop_assert_eq!(found.len(), expected.len(), "each once");
        prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);

        let leading = accepted.changes_leading_to("split", &code(from, &[]));
        for name in leading.into_iter().map(AcceptedChange::name).collect::<Vec<_>>() {
            prop_assert!(accepted.0.entries.remove(&name).is_some());
        }
        prop_assert!(accepted.older("split", &code(from, &[])).is_empty());
        prop_assert!(accepted.changes_leading_to("split", &code(from, &[])).is_empty());
    }

    #[test]
    fn what_is_written_is_read(edges in prop::collection::vec((0u8..6, 0u8..6), 1..8)) {
        let changes: Vec<_> =
            edges.iter().filter(|(a, b)| a != b).map(|(a, b)| (code(*a, &[]), code(*b, &[("slice", *a)]))).collect();
        let accepted = accepted(&changes);
        let read = LineFile::<AcceptedChange>::parse("accepted.lock".into(), accepted.0.text()).unwrap();
        prop_assert_eq!(&read.entries, &accepted.0.entries);
        prop_assert!(read.problems().is_empty());
    }
}
