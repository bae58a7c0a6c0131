//! Parameters of `claim`.

use cwm_contract::{ParameterError, Type, parameters};

use crate::claim::Claim;
use crate::grade_claims::GradeClaim;
use crate::number_claims::NumberClaim;

/// Claims by what they are about.
#[derive(Debug, Default)]
pub struct Claims {
    /// About choices.
    pub choices: Vec<Claim>,
    /// About findings.
    pub findings: Vec<NumberClaim>,
    /// About grades.
    pub grades: Vec<GradeClaim>,
}

parameters! {
    /// Parameters of `claim`.
    pub struct Config {
        /// The claim, such as `board/none.legal > moves/causal.legal from ply 40`: an arm's measure is larger than
        /// another's. Measures: valid, legal, best, forced_valid, forced_legal, forced_best, loss, mask_best, mask_loss. Or
        /// about findings: `probe.occupied[network=trained] > probe.occupied[network=untrained] + 0.05`, `legality.loss[of=all]
        /// < 2.2`; of several that fit, such as those of all layers, the largest counts. Or about grades:
        /// `after.reward > before.reward on reasoning_predict_move`, paired by item, for every two runs of these stages whose
        /// labels have the same coordinates; `after[data=a].reward > before[data=b].reward on …` names them. With `>=` it is
        /// enough that the interval of the difference is not wholly below 0; on the right may stand a number, and `on every task`
        /// is each by itself. Measures of grades: reward, score, legal, right.
        pub expect: Vec<String>,
        /// Number of bootstrap resamples for the intervals.
        pub resamples: u64 = 1_000, kind = Type::Integer { min: 100, max: 1_000_000 },
        /// Seed of the draws.
        pub seed: u64 = 0,
    }
}

impl Config {
    /// The claims by what they are about.
    ///
    /// # Errors
    /// One is not of a form above, as a phrase.
    pub fn claims(&self) -> Result<Claims, String> {
        let mut claims = Claims::default();
        for text in &self.expect {
            match text {
                text if NumberClaim::is_about_findings(text) => claims.findings.push(text.parse()?),
                text if GradeClaim::is_about_grades(text) => claims.grades.push(text.parse()?),
                text => claims.choices.push(text.parse()?),
            }
        }
        Ok(claims)
    }

    /// Checks that the inputs are given that the claims are about, and no other.
    pub fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        let claims = self.claims().ok()?;
        let numbers =
            [("choices", claims.choices.len()), ("findings", claims.findings.len()), ("grades", claims.grades.len())];
        numbers.into_iter().find_map(|(input, claims)| match (claims, inputs.contains(&input)) {
            (0, true) => Some(format!("has the input `{input}`, and no claim is about it")),
            (1.., false) => Some(format!("needs the input `{input}`, which a claim is about")),
            _ => None,
        })
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let fault = match self.claims() {
            Ok(_) if self.expect.is_empty() => Some("must have at least one claim".to_owned()),
            Ok(_) => None,
            Err(fault) => Some(fault),
        };
        fault.map(|fault| ParameterError::new("expect", fault)).into_iter().collect()
    }
}
