//! The objectives, which differ in the advantage of an answer by its reward, and in the average over the tokens of a
//! batch.

/// Added to the standard deviation of a group's rewards.
const EPSILON: f64 = 1e-6;

/// An objective of policy gradients with groups of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Dr. GRPO (Liu et al. 2025): rewards less the group's mean; tokens are added up, over the longest allowed answer.
    DrGrpo,
    /// GRPO (Shao et al. 2024): also divided by the group's standard deviation; the mean over each answer's own tokens.
    Grpo,
    /// DAPO (Yu et al. 2025): advantages of GRPO; one mean over the tokens of all answers.
    Dapo,
}

impl Objective {
    /// All objectives.
    pub const ALL: [Objective; 3] = [Objective::DrGrpo, Objective::Grpo, Objective::Dapo];
    /// Their names, in the same order.
    pub const NAMES: &'static [&'static str] = &["dr_grpo", "grpo", "dapo"];

    /// The objective of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Objective::ALL
            .into_iter()
            .zip(Objective::NAMES)
            .find(|(_, known)| **known == name)
            .map(|(objective, _)| objective)
    }

    /// The advantage of each answer of a group with these rewards; all 0 if the rewards are equal.
    pub fn advantages(self, rewards: &[f64]) -> Vec<f64> {
        // Rounding of the mean would leave a remainder.
        if !has_signal(rewards) {
            return vec![0.0; rewards.len()];
        }
        let count = rewards.len() as f64;
        let mean = rewards.iter().sum::<f64>() / count;
        let scale = match self {
            Objective::DrGrpo => 1.0,
            Objective::Grpo | Objective::Dapo => {
                let squares: f64 = rewards.iter().map(|reward| (reward - mean).powi(2)).sum();
                (squares / (count - 1.0)).sqrt() + EPSILON
            }
        };
        rewards.iter().map(|reward| (reward - mean) / scale).collect()
    }

    /// The weight of a token in the loss of a batch, for each answer, from the number of tokens of each answer. `longest` is the
    /// largest number of tokens that an answer may have.
    pub fn token_weights(self, lengths: &[usize], longest: usize) -> Vec<f64> {
        let answers = lengths.len().max(1) as f64;
        let all = lengths.iter().sum::<usize>().max(1) as f64;
        let weight = |&length: &usize| match self {
            Objective::DrGrpo => 1.0 / (answers * longest.max(1) as f64),
            Objective::Grpo => 1.0 / (answers * length.max(1) as f64),
            Objective::Dapo => 1.0 / all,
        };
        lengths.iter().map(weight).collect()
    }
}

/// Returns true if the rewards of a group differ, so that the group has a gradient.
pub fn has_signal(rewards: &[f64]) -> bool {
    rewards.windows(2).any(|pair| pair[0] != pair[1])
}
