use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::build::draft::blank;
use crate::build::picker::{Order, Picker, TaskCount};
use crate::{Item, Task};

const TASKS: [Task; 3] = [Task::Pin, Task::Fork, Task::Battery];

/// The tasks and rows of the items that are chosen where row `n` serves the tasks `rows[n]` (a bit each).
fn chosen(order: Order, seed: i128, rows: &[u8], wanted: [usize; 3]) -> Vec<(Task, usize)> {
    let counts = [0, 1, 2].map(|at| TaskCount { task: TASKS[at], wanted: wanted[at], weight: 1 << (3 * at) });
    let mut picker = Picker::new(order, seed, &counts);
    for (row, serves) in rows.iter().enumerate() {
        let make = |task: Task, _: &mut _| {
            let at = TASKS.iter().position(|other| *other == task).unwrap();
            Ok((serves >> at & 1 == 1).then(|| blank(task, row.to_string())))
        };
        picker.add_candidate(&row.to_string(), &TASKS, make).unwrap();
    }
    let items = picker.finish(true);
    items.iter().map(|item: &Item| (item.task().unwrap(), item.input.parse().unwrap())).collect()
}

fn of(task: Task, chosen: &[(Task, usize)]) -> Vec<usize> {
    chosen.iter().filter(|(other, _)| *other == task).map(|(_, row)| *row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_the_order_of_the_file_the_first_task_that_is_not_full_takes_a_row(
        rows in proptest::collection::vec(0..8_u8, 0..60),
        wanted in proptest::array::uniform3(0..8_usize),
    ) {
        let mut expected: [Vec<usize>; 3] = Default::default();
        for (row, serves) in rows.iter().enumerate() {
            if let Some(at) = (0..3).find(|&at| serves >> at & 1 == 1 && expected[at].len() < wanted[at]) {
                expected[at].push(row);
            }
        }
        let found = chosen(Order::File, 1, &rows, wanted);
        prop_assert_eq!(TASKS.map(|task| of(task, &found)), expected);
    }

    #[test]
    fn shuffled_tasks_are_independent_exclusive_and_grow(
        rows in proptest::collection::vec(0..8_u8, 0..60),
        wanted in proptest::array::uniform3(0..8_usize),
        seed in 0..5_i128,
    ) {
        let found = chosen(Order::Shuffled, seed, &rows, wanted);
        let distinct: BTreeSet<usize> = found.iter().map(|(_, row)| *row).collect();
        prop_assert_eq!(distinct.len(), found.len());
        for (at, task) in TASKS.into_iter().enumerate() {
            prop_assert!(of(task, &found).iter().all(|row| rows[*row] >> at & 1 == 1));
            let mut alone = [0; 3];
            alone[at] = wanted[at];
            prop_assert_eq!(of(task, &chosen(Order::Shuffled, seed, &rows, alone)), of(task, &found));
            // All rows that belong to it, of which the wanted ones are the first.
            alone[at] = rows.len();
            let all = of(task, &chosen(Order::Shuffled, seed, &rows, alone));
            prop_assert_eq!(&all[..wanted[at].min(all.len())], of(task, &found));
        }
    }
}

#[test]
fn rows_are_drawn_from_all_of_the_source_and_seeds_draw_others() {
    let rows = vec![1; 2_000];
    let drawn = |seed| of(Task::Pin, &chosen(Order::Shuffled, seed, &rows, [200, 0, 0]));
    let (first, second) = (drawn(0), drawn(1));
    let late = first.iter().filter(|row| **row >= 1_000).count();
    assert!((70..130).contains(&late), "{late} of 200 are of the second half");
    let common = first.iter().filter(|row| second.contains(row)).count();
    assert!((5..40).contains(&common), "{common} of 200 are drawn with both seeds");
}
