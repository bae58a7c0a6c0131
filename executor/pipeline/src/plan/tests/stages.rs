//! Stages with the inputs and outputs of the real ones.

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, SourceFile, SourceLocation,
    Stage, Type, Value, Values, parameters,
};

use cwm_core::Registry;

parameters! {
    /// Parameters of `play`.
    pub struct Play {
        /// How moves are chosen. The engine takes longer.
        pub policy: String, kind = Type::Choice(&["uniform", "engine"]),
        /// How many games.
        pub games: u64 = 100,
        /// Seed.
        pub seed: i128 = 0,
    }
}

parameters! {
    /// Parameters of `download`.
    pub struct Download {
        /// Where from.
        pub url: SourceLocation,
        /// More files.
        pub more: Vec<SourceFile> = Vec::new(),
    }
}

parameters! {
    /// Parameters of `split`.
    pub struct Split {
        /// Number of buckets.
        pub buckets: u64 = 10_000,
        /// Of which validation.
        pub validation: u64 = 50,
    }
}

parameters! {
    /// Parameters of `train`.
    pub struct Train {
        /// Model family.
        pub family: String = "transformer".into(), kind = Type::Choice(&["transformer", "slice"]),
        /// Size.
        pub size: String = "d32/l1".into(),
        /// Seed.
        pub seed: i128 = 0,
        /// Learning rate.
        pub lr: f64 = 1e-3,
        /// Anything.
        pub extra: Value = Value::Null,
    }
}

parameters! {
    /// No parameters.
    pub struct Nothing {}
}

struct Fake {
    kind: &'static str,
    inputs: fn() -> Vec<Input>,
    outputs: fn() -> Vec<Output>,
    parameters: fn() -> Vec<ParameterSpec>,
}

impl Stage for Fake {
    fn kind(&self) -> &'static str {
        self.kind
    }
    fn description(&self) -> &'static str {
        "Declares and never runs."
    }
    fn inputs(&self) -> Vec<Input> {
        (self.inputs)()
    }
    fn outputs(&self) -> Vec<Output> {
        (self.outputs)()
    }
    fn parameters(&self) -> Vec<ParameterSpec> {
        (self.parameters)()
    }
    fn check(&self, values: &Values) -> Vec<ParameterError> {
        match (values.get("validation"), values.get("buckets")) {
            (Some(Value::Int(validation)), Some(Value::Int(buckets))) if validation >= buckets => {
                vec![ParameterError::new(
                    "validation",
                    format!("must be less than buckets ({buckets}), not {validation}"),
                )]
            }
            _ => Vec::new(),
        }
    }
    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        let is_validated = values.get("extra") == Some(&Value::Text("validated".to_owned()));
        (is_validated && !inputs.contains(&"validation")).then(|| "needs an input `validation`".to_owned())
    }
    fn uses_devices(&self) -> bool {
        self.kind == "train"
    }
    fn run(&self, _context: &Context) -> Result<(), Failure> {
        Err(Failure::internal("this stage declares and never runs"))
    }
}

/// Returns the registry of all stages here except `select`.
pub fn registry() -> Registry {
    static STAGES: [Fake; 9] = [
        Fake {
            kind: "play",
            inputs: Vec::new,
            outputs: || vec![Output::file("pgn", Format::PGN, "pgn.zst", "games")],
            parameters: Play::specs,
        },
        Fake {
            kind: "download",
            inputs: Vec::new,
            outputs: || vec![Output::file("pgn", Format::PGN, "pgn", "games")],
            parameters: Download::specs,
        },
        Fake {
            kind: "parse",
            inputs: || vec![Input::one("pgn", Format::PGN, "games")],
            outputs: || {
                vec![
                    Output::folder("games", Format::GAMES, "games"),
                    Output::file("counts", Format::COUNTS, "json", "counts"),
                ]
            },
            parameters: Nothing::specs,
        },
        Fake {
            kind: "gather",
            inputs: || vec![Input::list("pgn", Format::PGN, "games")],
            outputs: || vec![Output::folder("games", Format::GAMES, "games")],
            parameters: Nothing::specs,
        },
        Fake {
            kind: "split",
            inputs: || vec![Input::one("games", Format::GAMES, "games")],
            outputs: || {
                vec![
                    Output::folder("train", Format::GAMES, "games"),
                    Output::folder("validation", Format::GAMES, "games"),
                    Output::file("counts", Format::COUNTS, "json", "counts"),
                ]
            },
            parameters: Split::specs,
        },
        Fake {
            kind: "tokenize",
            inputs: || {
                vec![
                    Input::optional("games", Format::GAMES, "games"),
                    Input::optional("train", Format::GAMES, "games"),
                    Input::optional("validation", Format::GAMES, "games"),
                ]
            },
            outputs: || {
                vec![
                    Output::folder("dataset", Format::DATASET, "tokens").when("games"),
                    Output::folder("train", Format::DATASET, "tokens").when("train"),
                    Output::folder("validation", Format::DATASET, "tokens").when("validation"),
                    Output::file("counts", Format::COUNTS, "json", "counts"),
                ]
            },
            parameters: Nothing::specs,
        },
        Fake {
            kind: "train",
            inputs: || {
                vec![
                    Input::one("train", Format::DATASET, "tokens"),
                    Input::optional("validation", Format::DATASET, "tokens"),
                ]
            },
            outputs: || {
                vec![
                    Output::folder("checkpoint", Format::CHECKPOINT, "model"),
                    Output::file("curves", Format::CURVES, "jsonl", "curves"),
                ]
            },
            parameters: Train::specs,
        },
        Fake {
            kind: "evaluate",
            inputs: || {
                vec![
                    Input::one("checkpoint", Format::CHECKPOINT, "model"),
                    Input::one("games", Format::DATASET, "tokens"),
                ]
            },
            outputs: || vec![Output::file("scores", Format::SCORES, "parquet", "scores")],
            parameters: Nothing::specs,
        },
        Fake {
            kind: "report",
            inputs: || {
                vec![
                    Input::many("scores", Format::SCORES, "scores"),
                    Input::optional_many("counts", Format::COUNTS, "counts"),
                    Input::optional_many("curves", Format::CURVES, "curves"),
                ]
            },
            outputs: || vec![Output::folder("report", Format::REPORT, "report")],
            parameters: Nothing::specs,
        },
    ];
    let no_code: cwm_core::CodeOf = |_, _| Ok(std::collections::BTreeMap::new());
    Registry::new(STAGES.iter().map(|stage| stage as &dyn Stage).collect(), &["bins"], no_code)
}
