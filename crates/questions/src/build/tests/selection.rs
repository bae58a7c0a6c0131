use std::collections::BTreeSet;

use serde::Deserialize;

use crate::build::{Order, Origin, Positions, Puzzle, PuzzleDropReason, PuzzleReader, Tactics};
use crate::golden;
use crate::item::Item;
use crate::truth::Keys;
use crate::{Category, Task};

/// A row of golden `selection.jsonl`.
#[derive(Deserialize)]
struct Selected {
    task_id: String,
    puzzle_id: String,
    input: String,
    correct_answer: String,
}

/// The parts of a chosen item that are compared: task id, puzzle id, input, and the answer's moves in any order.
type Chosen<'a> = ([&'a str; 3], BTreeSet<&'a str>);

fn selected(items: &[Item]) -> Vec<Chosen<'_>> {
    items
        .iter()
        .map(|item| chosen(&item.task_id, item.metadata.text("puzzle_id").unwrap(), &item.input, &item.correct_answer))
        .collect()
}

fn chosen<'a>(task_id: &'a str, puzzle_id: &'a str, input: &'a str, answer: &'a str) -> Chosen<'a> {
    ([task_id, puzzle_id, input], answer.split(", ").collect())
}

fn puzzles(text: &str) -> (Vec<Puzzle>, Vec<(u64, PuzzleDropReason)>) {
    let mut reader = PuzzleReader::new(text.as_bytes(), "puzzles.csv").unwrap();
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    while let Some(row) = reader.read().unwrap() {
        match row {
            Ok(puzzle) => found.push(puzzle),
            Err(fault) => faults.push((reader.row(), fault)),
        }
    }
    (found, faults)
}

fn tactics(order: Order, puzzles: &[Puzzle], wanted: impl Fn(Task) -> usize) -> Vec<Item> {
    let mut tactics = Tactics::new(order, 42, wanted);
    for pass in [0, 1] {
        for puzzle in puzzles {
            tactics.add_candidate(pass, puzzle).unwrap();
        }
    }
    tactics.finish()
}

fn positions(order: Order, puzzles: &[Puzzle], wanted: impl Fn(Task) -> usize) -> Vec<Item> {
    let mut positions = Positions::new(order, 42, Keys::Published, wanted);
    for puzzle in puzzles {
        positions.add_candidate(&puzzle.before, Origin::Puzzle { id: &puzzle.id }).unwrap();
    }
    positions.finish()
}

const FOUR: [Task; 4] = [Task::PieceArrangement, Task::LegalMoveAll, Task::CheckDetection, Task::CheckIn1];

#[test]
fn what_is_chosen_in_the_order_of_the_file_is_golden() {
    let (Some(text), Some(rows)) = (golden::text("puzzles.csv"), golden::lines::<Selected>("selection.jsonl")) else {
        return;
    };
    let (puzzles, faults) = puzzles(&text);
    // One of the written rows goes on after a mate.
    assert_eq!((puzzles.len(), &faults[..]), (177, &[(37, PuzzleDropReason::IllegalMove)][..]));
    let is = |category: Category| move |task: Task| task.category() == category;
    let golden_rows = |keep: &dyn Fn(Task) -> bool| -> Vec<Chosen<'_>> {
        let rows = rows.iter().filter(|row| keep(Task::of_name(&row.task_id[..row.task_id.len() - 5]).unwrap()));
        rows.map(|row| chosen(&row.task_id, &row.puzzle_id, &row.input, &row.correct_answer)).collect()
    };
    let chosen = tactics(Order::File, &puzzles, |task| if matches!(task, Task::Theme(_)) { 2 } else { 5 });
    assert_eq!(selected(&chosen), golden_rows(&is(Category::ShortTactics)));
    let motifs = positions(Order::File, &puzzles, |task| if is(Category::Motifs)(task) { 6 } else { 0 });
    assert_eq!(selected(&motifs), golden_rows(&is(Category::Motifs)));
    let structural = positions(Order::File, &puzzles, |task| if FOUR.contains(&task) { 6 } else { 0 });
    assert_eq!(selected(&structural), golden_rows(&is(Category::Structural)));
}

#[test]
fn items_of_a_published_position_are_the_published_ones_but_for_draws() {
    let (Some(text), Some(published)) = (golden::text("puzzles.csv"), golden::published()) else { return };
    let (puzzles, _) = puzzles(&text);
    let mut compared = 0;
    let chosen = [tactics(Order::Shuffled, &puzzles, |_| 200), positions(Order::Shuffled, &puzzles, |_| 200)];
    for item in chosen.iter().flatten() {
        let same = |other: &&Item| {
            (&other.task_type, &other.input, other.metadata.text("target_square"))
                == (&item.task_type, &item.input, item.metadata.text("target_square"))
        };
        if let Some(other) = published.iter().find(same) {
            compared += 1;
            assert_eq!(item.metadata, other.metadata, "{}", other.task_id);
            let answers = |item: &Item| item.correct_answer.split(", ").map(str::to_owned).collect::<BTreeSet<_>>();
            assert_eq!(answers(item), answers(other));
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn shuffled_tasks_do_not_depend_on_each_other_and_share_no_puzzle() {
    let Some(text) = golden::text("lichess-puzzles-6605.csv.zst") else { return };
    let (puzzles, faults) = puzzles(&text);
    assert_eq!((puzzles.len(), faults.len()), (6_605, 0));
    let all = positions(Order::Shuffled, &puzzles, |_| 20);
    for category in [Category::Structural, Category::Motifs] {
        let mut ids: Vec<&str> = Vec::new();
        ids.extend(
            all.iter()
                .filter(|item| item.task().unwrap().category() == category)
                .map(|item| item.metadata.text("puzzle_id").unwrap()),
        );
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
        let of = |task: Task| all.iter().filter(|item| item.task() == Some(task)).count();
        if category == Category::Motifs {
            // Of all rows, as few have a double check.
            let rare = positions(Order::File, &puzzles, |task| if task == Task::DoubleCheck { 1_000 } else { 0 });
            assert!(of(Task::DoubleCheck) * 5 >= rare.len() * 4, "{} of {}", of(Task::DoubleCheck), rare.len());
            assert_eq!(count, 100 + of(Task::DoubleCheck));
        } else {
            assert_eq!(count, 160);
        }
    }
    for only in [Task::Battery, Task::CheckDetection, Task::ControlSquares] {
        let alone = positions(Order::Shuffled, &puzzles, |task| if task == only { 20 } else { 0 });
        let among: Vec<&Item> = all.iter().filter(|item| item.task() == Some(only)).collect();
        assert_eq!(alone.iter().collect::<Vec<_>>(), among);
        let more = positions(Order::Shuffled, &puzzles, |task| if task == only { 30 } else { 0 });
        assert_eq!(more[..20], alone[..]);
        let mut first: Vec<&str> = alone.iter().map(|item| item.metadata.text("puzzle_id").unwrap()).collect();
        let by_file = positions(Order::File, &puzzles, |task| if task == only { 20 } else { 0 });
        first.retain(|id| by_file.iter().any(|item| item.metadata.text("puzzle_id") == Some(id)));
        assert!(first.len() < 10, "{only}: as good as in the order of the file");
    }
    let tactics = tactics(Order::Shuffled, &puzzles, |task| if matches!(task, Task::Theme(_)) { 25 } else { 100 });
    assert_eq!(tactics.iter().filter(|item| matches!(item.task(), Some(Task::Rating(_)))).count(), 400);
}

#[test]
fn faulty_rows_are_dropped_for_a_reason() {
    let header = "\u{feff}Themes,PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,GameUrl\r\n";
    let row =
        |fen: &str, moves: &str, rating: &str| format!("mateIn1 short,a,{fen},{moves},{rating},80,95,\"x, y\"\r\n");
    let fen = "6k1/5ppp/7r/8/8/8/5PPP/3R2K1 b - - 0 1";
    let text = [
        header.to_owned(),
        row(fen, "h6a6 d1d8", "999"),
        row(fen, "h6a6 d1d8", "many"),
        row("6k1/5ppp/7r/8/8/8/5PPP/3R4 b - - 0 1", "h6a6 d1d8", "999"),
        row(fen, "h6a6", "999"),
        row(fen, "", "999"),
        row(fen, "h6a6 d1d9", "999"),
        row(fen, "h6a6 d1e8", "999"),
        row("6k1/5ppp/7r/8/8/8/5PPP/3R2K1 b KQ - 0 1", "h6a6 d1d8", "999"),
        "mateIn1,a,6k1/5ppp/7r/8/8/8".to_owned(),
    ]
    .concat();
    let (puzzles, faults) = puzzles(&text);
    use PuzzleDropReason::{Fen, IllegalMove, NoSolution, Truncated, Unreadable};
    let expected = [
        (2, Unreadable),
        (3, Fen),
        (4, NoSolution),
        (5, NoSolution),
        (6, IllegalMove),
        (7, IllegalMove),
        (9, Truncated),
    ];
    assert_eq!(faults, expected);
    assert_eq!(puzzles.iter().map(|puzzle| puzzle.has_impossible_right).collect::<Vec<_>>(), [false, true]);
    assert_eq!(puzzles[0].themes, ["mateIn1", "short"]);
    let plain = format!("mateIn1,a,{fen},h6a6 d1d8,999,80,95,\n");
    let open = format!("{header}{plain}\"{plain}{plain}");
    let mut reader = PuzzleReader::new(open.as_bytes(), "puzzles.csv").unwrap();
    assert!(reader.read().unwrap().unwrap().is_ok());
    let failure = reader.read().err().unwrap();
    assert_eq!(failure.message, "puzzles.csv, row 2: a text in quotes goes on over the end of its line");
    let refused = PuzzleReader::new("a,b\n1,2\n".as_bytes(), "puzzles.csv").err().unwrap().message;
    assert_eq!(
        refused,
        "puzzles.csv, line 1: the header lacks PuzzleId, FEN, Moves, Rating, RatingDeviation, Popularity, Themes"
    );
}
