//! Parameters of `edit`.

use cwm_contract::{ParameterError, Type, parameters};
use cwm_models::{Precision, families};

use crate::study::Study;

parameters! {
    /// Parameters of `edit`.
    pub struct Config {
        /// The family that the checkpoint must have. If it is given, the result depends on the code of that family only.
        pub family: Option<String> = None,
        /// Vectors that are added to the stream, one at a time and beside none: a `random` vector, the model's own
        /// stream six plies later (`patch`), or the direction of each of the input `probes` (`probe`).
        pub interventions: Vec<String> = ["random", "patch", "probe"].map(str::to_owned).into(),
            kind = Type::List(Box::new(Type::Choice(&["random", "patch", "probe"]))),
        /// Layers that are edited, one at a time: 0 is the stream after the embedding, l that after block l. By default those
        /// that one of the `probes` has, or all without them.
        pub layers: Vec<u64> = Vec::new(),
        /// Lengths of the prefixes, in plies.
        pub plies: Vec<u64> = vec![4, 9, 14, 19, 24, 29, 34],
        /// η: the length of the vector that is added, in lengths of the row behind the model's final norm.
        pub eta: Vec<f64> = vec![0.5],
        /// Single edits of models of moves, such as `e2e4 d7d5: d5=. d7=p e7=. e5=p`: moves, then squares and what stands there
        /// after the edit.
        pub cases: Vec<String> = Vec::new(),
        /// Number of games, the first ones; by default all.
        pub games: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Number of bootstrap resamples for the intervals.
        pub resamples: u64 = 1_000, kind = Type::Integer { min: 100, max: 1_000_000 },
        /// Seed of the random vectors and of the resamples.
        pub seed: u64 = 0,
        /// Type to which operands of matrix products are rounded, independent of the training: `fp32` (none), `tf32` or
        /// `bf16`.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
        /// Largest number of padded tokens in one pass through the model.
        pub batch_tokens: u64 = 2_048, kind = Type::Integer { min: 1, max: 1 << 30 },
    }
}

impl Config {
    /// Returns the type to which operands of matrix products are rounded.
    pub fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }

    /// The single edits.
    ///
    /// # Errors
    /// One is not of the form of `cases`, has an illegal move, changes nothing, or is given twice; as a phrase.
    pub fn studies(&self) -> Result<Vec<Study>, String> {
        let mut studies: Vec<Study> = Vec::new();
        for text in &self.cases {
            let study = Study::parse(text)?;
            if studies.iter().any(|known| known.is_same_edit(&study)) {
                return Err(format!("has the case `{text}` twice"));
            }
            studies.push(study);
        }
        Ok(studies)
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let is_twice = |values: &[String]| (1..values.len()).any(|at| values[..at].contains(&values[at]));
        let [layers, plies]: [Vec<String>; 2] =
            [&self.layers, &self.plies].map(|values| values.iter().map(u64::to_string).collect());
        let eta: Vec<String> = self.eta.iter().map(f64::to_string).collect();
        let mut faults: Vec<(&str, String)> = Vec::new();
        let lists = [("interventions", &self.interventions), ("layers", &layers), ("plies", &plies), ("eta", &eta)];
        faults.extend(
            lists
                .into_iter()
                .filter(|(_, values)| is_twice(values))
                .map(|(name, _)| (name, "has a value twice".into())),
        );
        if self.interventions.is_empty() {
            faults.push(("interventions", "must be one at least".into()));
        }
        if self.plies.is_empty() || self.plies.iter().any(|ply| !(1..=65_535).contains(ply)) {
            faults.push(("plies", "must be numbers from 1 to 65,535, at least one".into()));
        }
        if self.eta.is_empty() || self.eta.iter().any(|eta| !(eta.is_finite() && *eta > 0.0)) {
            faults.push(("eta", "must be numbers above 0, at least one".into()));
        }
        if let Some(Err(error)) = self.family.as_deref().map(families::find) {
            faults.push(("family", format!("is unknown: {error}")));
        }
        faults.extend(self.studies().err().map(|fault| ("cases", fault)));
        faults.into_iter().map(|(name, fault)| ParameterError::new(name, fault)).collect()
    }
}
