//! Parameters of `import`.

use cwm_contract::{OneOrMany, ParameterError, SourceFiles, Type, parameters};

/// The endings of the names of files in a folder that are read.
pub const ENDINGS: &[&str] = &[".jsonl", ".jsonl.gz", ".jsonl.zst", ".jsonl.bz2"];

parameters! {
    /// The place of the records, and the checks of them.
    pub struct Config {
        /// The records: a file of JSON lines, a folder, or a list of such, in this order. Of a folder, the files in it
        /// and in its folders whose names end in `.jsonl` are read in the order of their names. Each may be compressed
        /// with gzip, zstd or bzip2.
        pub source: OneOrMany<SourceFiles>, kind = Type::OneOrMany(Box::new(Type::Files { endings: ENDINGS })),
        /// Compare every state of every record with a replay of its moves.
        pub check: bool = true,
        /// Treatment of a record that is faulty: fail, or leave it out.
        pub on_error: String = "fail".into(), kind = Type::Choice(&["fail", "drop"]),
        /// Games in one file of the output, at most.
        pub shard_games: u64 = 1_000_000,
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        if self.source.as_slice().is_empty() {
            errors.push(ParameterError::new("source", "must name at least one file or folder"));
        }
        if self.shard_games == 0 {
            errors.push(ParameterError::new("shard_games", "must be at least 1"));
        }
        errors
    }
}
