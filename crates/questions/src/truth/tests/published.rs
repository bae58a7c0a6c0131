//! The published items, and the notes on them.

use std::collections::BTreeSet;

use crate::Task;
use crate::golden::{published, text};
use crate::truth::tests::entries;
use crate::truth::tests::notes::note;
use crate::truth::{Keys, key};

#[test]
fn every_published_key_comes_out_of_input_and_metadata() {
    let Some(items) = published() else { return };
    let mut differing = Vec::new();
    for item in items {
        let found = key(&item, Keys::Published).unwrap().unwrap();
        // The published order of checks is python-chess's order of moves.
        let is_equal = match item.task().unwrap() {
            Task::DiscoveredCheck | Task::DoubleCheck => entries(&found) == entries(&item.correct_answer),
            _ => found == item.correct_answer,
        };
        if !is_equal {
            differing.push((item.task_id, item.correct_answer, found));
        }
    }
    assert!(differing.is_empty(), "{} keys differ: {differing:#?}", differing.len());
}

#[test]
fn the_golden_notes_come_out_and_no_others() {
    let (Some(items), Some(csv)) = (published(), text("published-notes.csv")) else { return };
    // As rows, each list as a set.
    let row = |fields: [&str; 4]| {
        let [id, kind, published, sound] = fields;
        let set = |list: &str| entries(list).into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
        (id.to_owned(), kind.to_owned(), set(published), set(sound))
    };
    let expected: BTreeSet<_> = csv.lines().skip(1).map(|line| row(fields(line))).collect();
    let notes = items.iter().filter_map(|item| Some((item, note(item).unwrap()?)));
    let found: BTreeSet<_> =
        notes.map(|(item, note)| row([&item.task_id, note.kind, &note.published, &note.sound])).collect();
    assert_eq!(expected.len(), 78);
    assert_eq!(found, expected);
}

/// The four fields of a line of CSV; quoted ones hold no quotes here.
fn fields(line: &str) -> [&str; 4] {
    let mut rest = line;
    [(); 4].map(|()| {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap(),
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        rest = after.strip_prefix(',').unwrap_or(after);
        field
    })
}
