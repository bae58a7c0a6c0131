//! Parameters of `learn`, and the model that they and a vocabulary make.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, ParameterSpec, Parameters, Type, Value, parameters};
use cwm_models::{Architecture, ModelError, Network, families, network};
use cwm_sequences::Vocabulary;
use cwm_training::hyperparameters::Hyperparameters;

parameters! {
    /// Parameters of `learn`.
    pub struct Config {
        /// Model family, by its name in the registry.
        pub family: String = "gpt".into(),
        /// Width and number of layers, dN/lM.
        pub size: String = "d64/l2".into(),
        /// The family's own options, such as `mask` of the GPT. If it has an option `positions` that is not given, that is the
        /// largest number of tokens of a sequence of this form.
        pub options: BTreeMap<String, String> = BTreeMap::new(),
        /// Train on this many sequences, the first; by default on all.
        pub rows: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Validate on this many sequences, the first of the validation set.
        pub validation_rows: u64 = 1_280, kind = Type::Integer { min: 1, max: 1 << 40 },
    }
    and pub hyper: Hyperparameters
}

/// The defaults that are not those of other trainings.
const DEFAULTS: [(&str, f64); 3] = [("lr", 3e-4), ("weight_decay", 0.1), ("dropout", 0.0)];

/// The option of a family that has a table of positions: their number.
const POSITIONS: &str = "positions";

/// The parameters of the stage.
pub fn specs() -> Vec<ParameterSpec> {
    let mut specs = Config::specs();
    for spec in &mut specs {
        if let Some((_, default)) = DEFAULTS.iter().find(|(name, _)| *name == spec.name) {
            spec.default = Some(Value::Float(*default));
        }
    }
    specs
}

impl Config {
    /// The model that answers in sequences of this vocabulary.
    ///
    /// # Errors
    /// `size` is not a size, or the family makes no such model.
    pub fn network(&self, vocabulary: &Vocabulary) -> Result<Network, ModelError> {
        let mut options = self.options.clone();
        if families::find(&self.family)?.options.iter().any(|option| option.name == POSITIONS) {
            options.entry(POSITIONS.to_owned()).or_insert_with(|| vocabulary.longest.to_string());
        }
        let architecture = Architecture {
            family: self.family.clone(),
            size: self.size.parse()?,
            vocabulary: usize::from(vocabulary.inputs),
            dropout: self.hyper.dropout,
            options,
        };
        Network::build(architecture, usize::from(vocabulary.targets))
    }

    /// The model of the smallest vocabulary: what can be known of it before there is one.
    ///
    /// # Errors
    /// As [`Config::network`].
    pub fn smallest_network(&self) -> Result<Network, ModelError> {
        self.network(&Vocabulary { form: String::new(), version: 0, inputs: 1, targets: 1, longest: 1 })
    }

    /// Returns the faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = self.hyper.validate();
        let build = || if faults.is_empty() { self.smallest_network().map(drop) } else { Ok(()) };
        let model = network::parameter_fault(&self.family, &self.size, &self.options, build);
        faults.extend(model);
        faults
    }
}
