//! The numbers of arXiv 2510.27009, and those of its authors' code (GitHub `Jared-Junkin/searchless_chess` at 3fad4e7).
//!
//! Each file has a fact a row: `table`, `row`, `column`, `value` as printed, `unit`, `section`. Values are text, since some are
//! not numbers: `over 60`, `4*`.

use cwm_page::{TableCell, number};

const FILES: [&str; 4] = [
    include_str!("text.csv"),
    include_str!("hyperparameters.csv"),
    include_str!("stockfish-levels.csv"),
    include_str!("authors-repository.csv"),
];

/// A fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    row: &'static str,
    column: &'static str,
    value: &'static str,
}

/// All of them, in the order of the files.
#[derive(Debug)]
pub(crate) struct Facts(Vec<Fact>);

impl Facts {
    /// Reads the facts that are part of this crate. Lines that are no facts are left out; a test counts them.
    pub(crate) fn load() -> Self {
        let fact = |line: &'static str| match line.split(',').collect::<Vec<_>>()[..] {
            [_table, row, column, value, _unit, _section] => Some(Fact { row, column, value }),
            _ => None,
        };
        Facts(FILES.into_iter().flat_map(|file| file.lines().skip(1)).filter_map(fact).collect())
    }

    /// Returns a fact as printed.
    pub(crate) fn get(&self, row: &str, column: &str) -> Option<&'static str> {
        self.0.iter().find(|fact| (fact.row, fact.column) == (row, column)).map(|fact| fact.value)
    }

    /// Returns a fact as a number, where it is one.
    pub(crate) fn value(&self, row: &str, column: &str) -> Option<f64> {
        self.get(row, column)?.parse().ok()
    }

    /// Returns a fact as a cell, its number `unit` times as large.
    pub(crate) fn cell(&self, row: &str, column: &str, unit: f64) -> TableCell {
        match (self.get(row, column), self.value(row, column)) {
            (Some(_), Some(value)) if unit != 1.0 => TableCell::count((value * unit).round() as u64),
            // `8e-05` is set as 8×10⁻⁵.
            (Some(text), Some(value)) => TableCell::number(value, number::printed(&text.replace("e-0", "e-"))),
            (Some(text), None) => TableCell::text(text),
            (None, _) => TableCell::none(),
        }
    }

    /// Returns the wins, draws and losses of a sweep against each of Stockfish's levels 0 to 10.
    pub(crate) fn sweep(&self, sweep: &str) -> Vec<[u32; 3]> {
        let results = |level: u32| {
            let row = format!("{sweep}_level_{level}");
            let number = |column| self.get(&row, column)?.parse().ok();
            Some([number("wins")?, number("draws")?, number("losses")?])
        };
        (0..=10).map_while(results).collect()
    }

    /// Returns step, test loss in nats and best moves in percent of each checkpoint of `fen_bidirectional` or
    /// `fen_causal`. If one was tested twice, the later test counts.
    pub(crate) fn checkpoints(&self, arm: &str) -> Vec<(u64, f64, f64)> {
        let mut found: Vec<(u64, f64, f64)> = Vec::new();
        for fact in self.0.iter().filter(|fact| fact.column == "test_loss") {
            let step =
                fact.row.strip_prefix(arm).and_then(|rest| rest.strip_prefix('@')).and_then(|step| step.parse().ok());
            let later = |column| self.0.iter().rev().find(|other| (other.row, other.column) == (fact.row, column));
            let value = |column| later(column).and_then(|fact| fact.value.parse().ok());
            if let (Some(step), Some(loss), Some(best)) = (step, value("test_loss"), value("test_best_move")) {
                found.push((step, loss, best));
            }
        }
        found.sort_by_key(|(step, ..)| *step);
        found.dedup_by_key(|(step, ..)| *step);
        found
    }

    /// The rating of Stockfish's level in the paper's Table 3, in Elo.
    pub(crate) fn level(&self, level: u8) -> Option<f64> {
        self.value(&level.to_string(), "elo")
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::testing::shared;

    use super::*;

    /// The files are those of the folder from which they were taken, and every line is a fact.
    #[test]
    fn the_files_are_the_shared_ones() {
        let lines: usize = FILES.iter().map(|file| file.lines().count() - 1).sum();
        assert_eq!((Facts::load().0.len(), lines), (366 + 52 + 20 + 11, 366 + 52 + 20 + 11));
        let Some(folder) = shared("systems/board-vs-moves-paper") else { return };
        for (name, file) in ["text", "hyperparameters", "stockfish-levels", "authors-repository"].iter().zip(FILES) {
            assert_eq!(std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap(), file);
        }
    }

    /// Spot checks against the text of the specification (§2.8 to §2.10).
    #[test]
    fn single_facts_are_the_papers() {
        let facts = Facts::load();
        assert_eq!(facts.get("nanogpt_fen_bidirectional", "best_move"), Some("over 60"));
        assert_eq!((facts.level(0), facts.level(10), facts.level(11)), (Some(1320.0), Some(2788.0), None));
        let (bidirectional, causal) = (facts.checkpoints("fen_bidirectional"), facts.checkpoints("fen_causal"));
        assert_eq!((bidirectional.len(), causal.len()), (75, 75));
        let at =
            |of: &[(u64, f64, f64)], step| of.iter().find(|(at, ..)| *at == step).map(|(_, loss, best)| (*loss, *best));
        assert_eq!(at(&bidirectional, 12_000).map(|(loss, _)| loss), Some(2.290646));
        assert!(
            at(&bidirectional, 588_000)
                .is_some_and(|(loss, best)| (loss - 1.188).abs() < 5e-4 && (best - 59.0).abs() < 0.05)
        );
        assert_eq!(at(&causal, 596_000), Some((1.401, 53.4863)));
        assert_eq!(facts.sweep("sweep")[0], [99, 0, 1]);
        let shares = facts.sweep("sweep_with_repetitions").into_iter().map(|[_, draws, _]| draws);
        assert_eq!((shares.clone().min(), shares.max()), (Some(32), Some(75)));
    }
}
