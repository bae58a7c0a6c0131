//! Parameters of `train`, and the values that follow from them.

use std::collections::BTreeMap;

use cwm_contract::{Context, Failure, ParameterError, Type, parameters};
use cwm_encoding::{EnPassant, VOCABULARY};
use cwm_models::heads::labels;
use cwm_models::{Architecture, ModelError, network};
use cwm_training::hyperparameters::Hyperparameters;
use cwm_training::order::Order;

use crate::data::Games;

parameters! {
    /// Parameters of `train`.
    pub struct Config {
        /// Model family, by its name in the registry.
        pub family: String = "transformer".into(),
        /// Width and number of layers, dN/lM.
        pub size: String = "d128/l1".into(),
        /// The family's own options, such as `rope` of the Transformer.
        pub options: BTreeMap<String, String> = BTreeMap::new(),
        /// Train on this many games, the first of the dataset; by default on all.
        pub games: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Order of games: `shuffled` (all games, reshuffled in each epoch), `file` (the order of the dataset), or
        /// `authors` (whole shards of the corpus in random order, as in the paper's program).
        pub order: String = "shuffled".into(), kind = Type::Choice(&["shuffled", "file", "authors"]),
        /// Games in a shard of the corpus, those for validation included; for `order: authors`.
        pub shard_games: u64 = 1_000_000, kind = Type::Integer { min: 1, max: 1 << 40 },
        /// For `order: authors`: the number of loading processes whose batches are taken in turn; 0 is a single stream.
        pub workers: u64 = 0, kind = Type::Integer { min: 0, max: 1 << 10 },
        /// When the en passant labels are set: `always` after a double push, or `legal`, only where a capture is.
        pub en_passant: String = "always".into(), kind = Type::Choice(&["always", "legal"]),
        /// Validate on this many games, the first of the validation set.
        pub validation_games: u64 = 1_280, kind = Type::Integer { min: 1, max: 1 << 40 },
        /// Write the output `state`, from which a longer training of the same configuration can continue.
        pub keep_state: bool = false,
    }
    and pub hyper: Hyperparameters
}

impl Config {
    /// Returns the architecture of the model.
    ///
    /// # Errors
    /// `size` is not a size.
    pub fn architecture(&self) -> Result<Architecture, ModelError> {
        Ok(Architecture {
            family: self.family.clone(),
            size: self.size.parse()?,
            vocabulary: VOCABULARY,
            dropout: self.hyper.dropout,
            options: self.options.clone(),
        })
    }

    /// Returns the faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = self.hyper.validate();
        let build = || if faults.is_empty() { self.architecture().and_then(labels::network).map(drop) } else { Ok(()) };
        let model = network::parameter_fault(&self.family, &self.size, &self.options, build);
        faults.extend(model);
        faults
    }

    /// Returns the parameters that have no effect given the others, or do not change the outputs.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let mut unused = self.hyper.unused_parameters();
        if self.order != "authors" {
            unused.extend(["shard_games", "workers"]);
        }
        unused
    }

    /// Order of games.
    ///
    /// # Errors
    /// The shards of the corpus do not follow from the games, or the stage was cancelled.
    pub fn order(&self, context: &Context, games: &mut Games) -> Result<Order, Failure> {
        let seed = self.hyper.data_seed();
        Ok(match self.order.as_str() {
            "file" => Order::File,
            "authors" => {
                let shards = games.shards(context, self.shard_games)?;
                Order::Authors { seed, shards, workers: self.workers as usize }
            }
            _ => Order::Shuffled { seed },
        })
    }

    /// Returns the rule of en passant labels.
    pub fn en_passant(&self) -> EnPassant {
        if self.en_passant == "legal" { EnPassant::Legal } else { EnPassant::Always }
    }
}
