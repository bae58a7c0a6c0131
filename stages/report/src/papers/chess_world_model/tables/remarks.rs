//! Remarks on losses: a model that is worse than chance, and one that is worse than a smaller one of its family.

use cwm_page::MeanStd;

use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::results::{Overall, Results};
use crate::papers::chess_world_model::test_set::TestSet;

/// The mean loss over the 75 labels where all classes of each are equally likely: of 64 squares with 13, the side to move
/// and four castling rights with 2, the en passant file with 9 and rank with 3, and four bytes of the counters with 256.
const UNIFORM_LOSS: f64 = 2.574_653_885_656_8;

/// Returns remarks on the losses of those models that `belongs` takes on these test sets; nothing, or sentences with a
/// space before each.
pub(super) fn loss_remarks(results: &Results, tests: &[&TestSet], belongs: impl Fn(&Model) -> bool) -> String {
    let scored: Vec<TestLoss> =
        scored(results).filter(|scored| belongs(scored.model) && tests.contains(&scored.test)).collect();
    let (nothing, others): (Vec<&TestLoss>, Vec<&TestLoss>) = scored.iter().partition(|scored| scored.knows_nothing());
    let mut remarks = String::new();
    if !nothing.is_empty() {
        remarks += &format!(
            " A loss above {} is worse than that of a model to which all classes of a label are equally likely: {}.",
            format::three_decimals(UNIFORM_LOSS),
            list(nothing.iter().map(|one| one.description()))
        );
    }
    let smaller = |one: &&TestLoss| {
        let siblings = scored.iter().filter(|other| other.is_smaller_sibling(one));
        let best =
            siblings.filter(|other| other.loss.mean.is_finite()).min_by(|a, b| a.loss.mean.total_cmp(&b.loss.mean))?;
        let worse = ends(one.loss).0 > ends(best.loss).1;
        worse.then(|| one.described_with(&format!("; {} {}", best.model.size, format::loss(best.loss.mean))))
    };
    let worse: Vec<String> = others.iter().filter_map(smaller).collect();
    if !worse.is_empty() {
        remarks += &format!(
            " Larger, but with a higher loss than a smaller model of its family, by more than their intervals: {}.",
            list(worse.into_iter())
        );
    }
    remarks
}

/// Returns a sentence for the head of the page about the models that are worse than one to which all classes are
/// equally likely, if there are any; of those under further shifts only the worst.
pub(crate) fn worse_than_chance_warning(results: &Results) -> Option<String> {
    let (found, others): (Vec<TestLoss>, Vec<TestLoss>) =
        scored(results).filter(TestLoss::knows_nothing).partition(|scored| TestSet::PAPER.contains(scored.test));
    let worst = others.iter().max_by(|a, b| a.loss.mean.total_cmp(&b.loss.mean));
    let mut parts: Vec<String> = found.iter().map(TestLoss::description).collect();
    parts.extend(worst.map(|worst| match others.len() {
        1 => worst.description(),
        number => format!("{number} under further shifts, of which the worst is {}", worst.description()),
    }));
    let loss = format::three_decimals(UNIFORM_LOSS);
    (!parts.is_empty()).then(|| {
        format!(
            "Worse than guessing evenly among the classes of each label, which would have a loss of {loss}: {}.",
            list(parts.into_iter())
        )
    })
}

/// A model's loss on a test set.
struct TestLoss<'a> {
    model: &'a Model,
    test: &'a TestSet,
    loss: MeanStd,
}

impl TestLoss<'_> {
    fn knows_nothing(&self) -> bool {
        self.loss.mean > UNIFORM_LOSS
    }

    /// `SLiCE d64/l1 on held-out games (3.512345)`.
    fn description(&self) -> String {
        self.described_with("")
    }

    /// Returns `description` with more in the brackets.
    fn described_with(&self, more: &str) -> String {
        let TestLoss { model, test, loss } = self;
        let on = match test {
            TestSet::Other(_) => format!("the set {}", test.phrase()),
            papers => papers.phrase(),
        };
        format!("{} {} on {on} ({}{more})", model.name(), model.size, format::loss(loss.mean))
    }

    fn is_smaller_sibling(&self, of: &TestLoss) -> bool {
        let alike = self.model.family == of.model.family && self.model.variant() == of.model.variant();
        // Models of one family are ordered by size.
        self.test == of.test && alike && self.model.size != of.model.size && self.model < of.model
    }
}

fn scored(results: &Results) -> impl Iterator<Item = TestLoss<'_>> {
    results.overall.iter().filter_map(|((model, test), Overall { loss, .. })| {
        Some(TestLoss { model: &results.models[*model], test: &results.tests[*test], loss: (*loss)? })
    })
}

/// The ends of a loss's interval or deviation; the loss itself where neither is known.
fn ends(loss: MeanStd) -> (f64, f64) {
    let over_runs = loss.deviation.map(|deviation| (loss.mean - deviation, loss.mean + deviation));
    over_runs.or(loss.interval).unwrap_or((loss.mean, loss.mean))
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::chess_world_model::figures::tests::overall;

    /// Returns the remarks on models with these sizes, losses and deviations on held-out games.
    fn remarks_on(models: &[(&str, f64, f64)]) -> String {
        let overall = models.iter().map(|(_, loss, deviation)| overall((*loss, *deviation), (0.5, 0.0)));
        let results = Results {
            models: models.iter().map(|(size, ..)| Model::new("e", "slice_diag", size)).collect(),
            tests: vec![TestSet::HeldOut],
            overall: overall.enumerate().map(|(model, overall)| ((model, 0), overall)).collect(),
            ..Results::default()
        };
        loss_remarks(&results, &[&TestSet::HeldOut], |_| true)
    }

    #[test]
    fn the_uniform_loss_is_that_of_the_labels() {
        let bits = |group: &cwm_encoding::LabelGroup| group.labels as f64 * (group.classes as f64).ln();
        let mean = cwm_encoding::GROUPS.iter().map(bits).sum::<f64>() / cwm_encoding::LABELS as f64;
        assert!((mean - UNIFORM_LOSS).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn what_is_odd_is_reported() {
        assert_eq!(remarks_on(&[("d64/l1", 0.5, 0.0), ("d128/l1", 0.4, 0.0)]), "");
        assert_eq!(
            remarks_on(&[("d64/l1", 3.5, 0.1), ("d128/l1", 0.4, 0.0)]),
            " A loss above 2.575 is worse than that of a model to which all classes of a label are equally likely: Diagonal \
             SLiCE d64/l1 on held-out games (3.500000)."
        );
        assert_eq!(
            remarks_on(&[("d64/l1", 0.4, 0.01), ("d128/l1", 0.5, 0.01), ("d256/l2", 0.405, 0.01)]),
            " Larger, but with a higher loss than a smaller model of its family, by more than their intervals: Diagonal \
             SLiCE d128/l1 on held-out games (0.500000; d64/l1 0.400000)."
        );
        // What is no number is neither.
        assert_eq!(remarks_on(&[("d64/l1", f64::NAN, 0.0), ("d128/l1", 0.5, 0.0), ("d256/l2", f64::NAN, 0.0)]), "");
        assert!(remarks_on(&[("d64/l1", f64::INFINITY, f64::NAN)]).contains("(inf)"));
    }
}
