//! The paper's own numbers (arXiv 2605.30100).

use cwm_page::{Facts, PrintedValue};

use crate::papers::chess_world_model::test_set::TestSet;

const FACTS: &str = include_str!("paper.csv");

/// A quantity that the paper reports, of a model or of a set of games.
pub(crate) enum Metric {
    /// Games in a split (Tables 1 and 3).
    Games,
    /// Share of the games in percent (Table 1, where it is approximate).
    Share,
    /// Distinct move tokens in a set (Table 3).
    UniqueMoves,
    /// Share of the possible move tokens in percent (Table 3).
    Coverage,
    /// Distinct move tokens of one of the two sets that the other does not have (text of Appendix A.2).
    OnlyMoves,
    /// Families and sizes of the sweep (text of Appendix C).
    Cells,
    /// Cells in which the winner by loss has the highest exact-state accuracy, too (text of Appendix C).
    ExactWinners,
    /// Cells in which it has the highest labelwise accuracy, too (text of Appendix C).
    LabelwiseWinners,
    /// Parameter count in millions (Table 4).
    Parameters,
    /// Mean cross-entropy (Tables 8 to 10).
    Loss,
    /// Labelwise accuracy in percent (Tables 8 to 10, 12).
    Labelwise,
    /// Exact-state accuracy in percent (Tables 8 to 11).
    Exact,
    /// Exact trajectories in percent (Tables 8 to 10).
    Trajectory,
}

impl Metric {
    fn name(&self) -> &'static str {
        match self {
            Metric::Games => "games",
            Metric::Share => "share_percent",
            Metric::UniqueMoves => "unique_moves",
            Metric::Coverage => "coverage_percent",
            Metric::OnlyMoves => "only_moves",
            Metric::Cells => "cells",
            Metric::ExactWinners => "exact_winners",
            Metric::LabelwiseWinners => "labelwise_winners",
            Metric::Parameters => "parameters_millions",
            Metric::Loss => "loss",
            Metric::Labelwise => "labelwise",
            Metric::Exact => "exact",
            Metric::Trajectory => "trajectory",
        }
    }
}

/// The stage in which the paper chose between trainings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChoiceStage {
    /// The sweep (Table 5).
    FirstStage,
    /// The two floors of the learning rate (Tables 6 and 7).
    SecondStage,
}

/// All the facts.
pub(crate) struct PaperFacts(Facts);

impl PaperFacts {
    /// Width of the paper's prefix bins (Appendix B.1).
    pub(crate) const BIN_WIDTH: u64 = 20;
    /// First steps of the bins that Tables 11 and 12 select.
    pub(crate) const SELECTED_BINS: [u64; 7] = [0, 80, 160, 240, 320, 400, 500];

    /// Reads the facts that are part of this crate.
    ///
    /// # Errors
    /// A line does not fit the header: its number. A test keeps this from happening.
    pub(crate) fn load() -> Result<Self, String> {
        Facts::parse(FACTS).map(PaperFacts).map_err(|line| format!("facts/paper.csv, {line}"))
    }

    /// The parameter count in millions, if the paper has such a model.
    pub(crate) fn parameters(&self, family: &str, size: &str) -> Option<&PrintedValue> {
        self.get(family, size, "", "", &Metric::Parameters)
    }

    /// A fact about a set of games (`train_and_validation`, `train`, `validation`, `held_out`, `random_uniform`), or
    /// about all choices of the `first_stage`.
    pub(crate) fn split(&self, set: &str, metric: &Metric) -> Option<&PrintedValue> {
        self.get("", "", set, "", metric)
    }

    /// A metric over a whole test set.
    pub(crate) fn test_result(
        &self,
        family: &str,
        size: &str,
        test: &TestSet,
        metric: &Metric,
    ) -> Option<&PrintedValue> {
        self.get(family, size, test.name(), "", metric)
    }

    /// A metric in the 20-step bin that begins at `start`.
    pub(crate) fn bin(
        &self,
        family: &str,
        size: &str,
        test: &TestSet,
        start: u64,
        metric: &Metric,
    ) -> Option<&PrintedValue> {
        self.get(family, size, test.name(), &start.to_string(), metric)
    }

    /// Returns a value of the training that was chosen for a family and size: a metric of its last validation (`loss`,
    /// `exact`, `labelwise`, `trajectory`) or a hyper-parameter by name; in the second stage also `other_lr_floor` and
    /// `other_loss`.
    pub(crate) fn chosen(&self, family: &str, size: &str, stage: ChoiceStage, what: &str) -> Option<&PrintedValue> {
        let stage = match stage {
            ChoiceStage::FirstStage => "first_stage",
            ChoiceStage::SecondStage => "second_stage",
        };
        self.fact([family, size, stage, "", what])
    }

    fn get(&self, family: &str, size: &str, test: &str, bin: &str, metric: &Metric) -> Option<&PrintedValue> {
        self.fact([family, size, test, bin, metric.name()])
    }

    fn fact(&self, key: [&str; 5]) -> Option<&PrintedValue> {
        self.0.get(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::chess_world_model::model::{MAIN_FAMILIES, SIZES};

    #[test]
    fn the_main_models_are_complete() {
        let paper = PaperFacts::load().unwrap();
        for family in MAIN_FAMILIES {
            for size in SIZES {
                assert!(paper.parameters(family, size).is_some());
                for test in TestSet::PAPER {
                    for metric in [Metric::Loss, Metric::Labelwise, Metric::Exact, Metric::Trajectory] {
                        assert!(paper.test_result(family, size, &test, &metric).is_some(), "{family} {size}");
                    }
                }
            }
            for start in PaperFacts::SELECTED_BINS {
                for metric in [Metric::Exact, Metric::Labelwise] {
                    assert!(paper.bin(family, "d512/l6", &TestSet::RandomUniform, start, &metric).is_some());
                }
            }
        }
        // Table by table: 1, 3, 4, 5, 6, 7, 8, 9 and 10, 11 and 12 (src/tests/facts.rs).
        assert_eq!(paper.0.len(), 4 + 7 + 28 + 131 + 96 + 64 + 128 + 96 + 56);
    }

    /// Spot checks against the paper's text, one in each table.
    #[test]
    fn single_numbers_are_the_papers() {
        let paper = PaperFacts::load().unwrap();
        let result = |family, size, test: TestSet, metric| {
            paper
                .test_result(family, size, &test, &metric)
                .map(|printed| (printed.table.as_str(), printed.text.as_str()))
        };
        assert_eq!(paper.parameters("mamba3", "d512/l6").unwrap().text, "40.83");
        assert_eq!(result("mamba3", "d512/l6", TestSet::RandomUniform, Metric::Exact), Some(("8", "81.13")));
        assert_eq!(result("transformer", "d384/l4", TestSet::HeldOut, Metric::Loss), Some(("8", "7.65e-5")));
        assert_eq!(result("mamba2", "d128/l1", TestSet::HeldOut, Metric::Exact), Some(("9", "46.41")));
        assert_eq!(result("slice_diag", "d256/l2", TestSet::RandomUniform, Metric::Loss), Some(("10", "4.43e17")));
        let bin = |start, metric| {
            paper.bin("slice", "d512/l6", &TestSet::RandomUniform, start, &metric).map(|printed| printed.value)
        };
        let chosen = |size, stage, what| paper.chosen("slice", size, stage, what).map(|printed| printed.text.as_str());
        assert_eq!(chosen("d512/l6", ChoiceStage::FirstStage, "lr"), Some("0.001"));
        assert_eq!(chosen("d512/l6", ChoiceStage::SecondStage, "lr"), Some("0.0003"), "the runner-up");
        assert_eq!(chosen("d384/l4", ChoiceStage::SecondStage, "loss"), Some("6.98e-5"));
        assert_eq!(bin(400, Metric::Exact), Some(14.34));
        assert_eq!(bin(500, Metric::Labelwise), Some(96.18));
        assert_eq!(bin(20, Metric::Exact), None);
        assert_eq!(result("slice", "d32/l1", TestSet::HeldOut, Metric::Exact), None);
    }
}
