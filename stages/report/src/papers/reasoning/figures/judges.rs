//! Points and strategies by a judge, before and after reinforcement learning.

use cwm_page::Figure;

use super::bars::{Spec, before_and_after};
use crate::papers::reasoning::facts::Facts;
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::{Measured, PREDICT};

const POINTS: [Spec; 4] = [
    ("Efficacy (10 points are 100 %)", PREDICT, "efficacy", ""),
    ("Efficiency (10 points are 100 %)", PREDICT, "efficiency", ""),
    ("Faithfulness (10 points are 100 %)", PREDICT, "faithfulness", ""),
    ("True claims that the judge lists (%)", PREDICT, "judged_accuracy", ""),
];

const STRATEGIES: [Spec; 6] = [
    ("Enumeration (%)", PREDICT, "strategy_enumeration", ""),
    ("Tree search (%)", PREDICT, "strategy_tree_search", ""),
    ("Backtracking (%)", PREDICT, "strategy_backtracking", ""),
    ("Self correction (%)", PREDICT, "strategy_self_correction", ""),
    ("Subgoal setting (%)", PREDICT, "strategy_subgoal_setting", ""),
    ("Verification (%)", PREDICT, "strategy_verification", ""),
];

/// Figures 18 and later: points.
pub(crate) fn points(measured: &Measured, facts: &Facts) -> Figure {
    Figure {
        id: id("points"),
        title: "Points of a judge".into(),
        paper: Some("Figures 18 and later, Appendix G"),
        description: "Mean points that a judge gives the thinking of answers to Predict move, without regard to truth, and the share of the \
                      claims it lists that are true in the position; after fine-tuning and after reinforcement learning, with 95 % intervals."
            .into(),
        ..with_data(measured, &POINTS, facts)
    }
}

/// Figure 17: strategies.
pub(crate) fn strategies(measured: &Measured, facts: &Facts) -> Figure {
    Figure {
        id: id("strategies"),
        title: "Strategies".into(),
        paper: Some("Figure 17, Appendix F"),
        description: "Shares of answers to Predict move in which a judge finds a strategy, and quotes words that are there; after fine-tuning and \
                      after reinforcement learning, with 95 % intervals."
            .into(),
        ..with_data(measured, &STRATEGIES, facts)
    }
}

/// Panels of the measures that some run has.
fn with_data(measured: &Measured, specs: &[Spec], facts: &Facts) -> Figure {
    let has = |spec: &&Spec| {
        measured.runs().any(|(_, player, phase)| phase.is_some() && player.measure(spec.1, spec.2).is_some())
    };
    before_and_after(&specs.iter().filter(has).copied().collect::<Vec<_>>(), measured, facts)
}
