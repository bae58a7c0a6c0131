//! Parameters of `parse`.

use cwm_contract::{ParameterError, Secret, Type, parameters};

parameters! {
    /// The games that are kept, and their ids.
    pub struct Config {
        /// `cwm`: only standard games from the initial position, without faults. `authors`: the same games as the
        /// authors' program, including other variants and games truncated at an illegal move; slow, for comparison.
        pub rules: String = "cwm".into(), kind = Type::Choice(&["cwm", "authors"]),
        /// A game is kept if it has at least twice this many plies.
        pub min_fullmoves: u32 = 10,
        /// `hmac`: ids are made from the Site tag with the id key. `site`: the Site tag is the id, for generated games.
        pub ids: String = "hmac".into(), kind = Type::Choice(&["hmac", "site"]),
        /// The file that holds the id key; else the environment variable CHESS_WORLD_MODEL_ID_KEY; else the public key.
        pub id_key_file: Secret = Secret { file: None }, kind = Type::Secret { env: "CHESS_WORLD_MODEL_ID_KEY", public: "cwm-public-key" },
        /// Stop after this many kept games, in the order of the files; fewer games are an error.
        pub limit: Option<u64> = None,
        /// Treatment of a game that is faulty (an illegal move, broken text): leave it out, or fail.
        pub on_error: String = "drop".into(), kind = Type::Choice(&["drop", "fail"]),
        /// Games in one file of the output, at most.
        pub shard_games: u64 = 1_000_000,
    }
}

impl Config {
    /// Returns the parameters that have no effect given the others: where the site is the id, the key is not used.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        if self.ids == "site" { vec!["id_key_file"] } else { Vec::new() }
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        if self.limit == Some(0) {
            errors.push(ParameterError::new("limit", "must be at least 1"));
        }
        if self.shard_games == 0 {
            errors.push(ParameterError::new("shard_games", "must be at least 1"));
        }
        errors
    }
}
