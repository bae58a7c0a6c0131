//! Formats of the files that pass between stages.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a documented file format (`docs/formats.md`). Every input and output carries one; an edge between two
/// different ones is refused before anything runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Format(Cow<'static, str>);

impl Format {
    /// Chess games as PGN text, plain or compressed.
    pub const PGN: Format = Format::named("pgn");
    /// Replayed games: id, site, result and moves, one row a game (Arrow IPC).
    pub const GAMES: Format = Format::named("games");
    /// Counts of what was kept and dropped, and why (JSON).
    pub const COUNTS: Format = Format::named("counts");
    /// Faulty games that were left out, one JSON object a line.
    pub const FAULTS: Format = Format::named("faults");
    /// Token sequences ready for training, one row a game (Arrow IPC).
    pub const DATASET: Format = Format::named("dataset");
    /// A trained model: weights and description (a folder).
    pub const CHECKPOINT: Format = Format::named("checkpoint");
    /// Description of a trained model and of its training: that of a checkpoint, in a file of its own (JSON).
    pub const SUMMARY: Format = Format::named("summary");
    /// Hyper-parameters for one family and size (JSON).
    pub const CHOICE: Format = Format::named("choice");
    /// The trainings that a choice was made from, best first, one JSON object a line.
    pub const CANDIDATES: Format = Format::named("candidates");
    /// Differences between models on the same games, one JSON object a line.
    pub const DIFFERENCES: Format = Format::named("differences");
    /// Claims about models and what was found of them, one JSON object a line.
    pub const CLAIMS: Format = Format::named("claims");
    /// Positions with the best moves that an engine found (Parquet).
    pub const EVALUATIONS: Format = Format::named("evaluations");
    /// Sequences of tokens with a target or none at each place, one row a sequence (Arrow IPC).
    pub const SEQUENCES: Format = Format::named("sequences");
    /// Games between two players, and how they ended (Parquet).
    pub const MATCHES: Format = Format::named("matches");
    /// The move that a model chose in each position (Parquet).
    pub const CHOICES: Format = Format::named("choices");
    /// The likeliest next word of a model of moves at each place of a game: legal or not (Parquet).
    pub const LEGALITY: Format = Format::named("legality");
    /// Linear probes: matrices that read boards from a model's residual stream (a folder).
    pub const PROBES: Format = Format::named("probes");
    /// Sparse autoencoders of a model's residual stream (a folder).
    pub const AUTOENCODER: Format = Format::named("autoencoder");
    /// Different sequences of moves that end in the same position (Parquet).
    pub const TRANSPOSITIONS: Format = Format::named("transpositions");
    /// Predictions of a model after its residual stream was edited, one row an edit (Parquet).
    pub const EDITS: Format = Format::named("edits");
    /// Numbers measured inside models, one JSON object a line.
    pub const FINDINGS: Format = Format::named("findings");
    /// Chess puzzles with their solutions, in Lichess's columns (CSV).
    pub const PUZZLES: Format = Format::named("puzzles");
    /// Comments on moves of games, one JSON object a line.
    pub const COMMENTS: Format = Format::named("comments");
    /// Embeddings of comments, one row a comment (Parquet).
    pub const EMBEDDINGS: Format = Format::named("embeddings");
    /// Questions about positions with their true answers, one JSON object a line.
    pub const ITEMS: Format = Format::named("items");
    /// Conversations that a model is fine-tuned on, one JSON object a line.
    pub const EXAMPLES: Format = Format::named("examples");
    /// The counts of examples and tokens from each source of a mix (JSON).
    pub const MIXTURE: Format = Format::named("mixture");
    /// Answers of a model or player to items, one row an item (Parquet).
    pub const ANSWERS: Format = Format::named("answers");
    /// Verdicts on answers, one row a run and item (Parquet).
    pub const GRADES: Format = Format::named("grades");
    /// Sums and shares of verdicts (a folder of Parquet files).
    pub const TALLIES: Format = Format::named("tallies");
    /// Curves that training recorded, one JSON object a line.
    pub const CURVES: Format = Format::named("curves");
    /// Predictions of a model of any program, one row a position (Parquet).
    pub const PREDICTIONS: Format = Format::named("predictions");
    /// Scores of a model, one row a position (Parquet).
    pub const SCORES: Format = Format::named("scores");
    /// Predicted and true boards of a few games, one game a line.
    pub const BOARDS: Format = Format::named("boards");
    /// Metrics over all positions and per prefix bin (a folder of Parquet files).
    pub const BINS: Format = Format::named("bins");
    /// Tables, figures and a page (a folder).
    pub const REPORT: Format = Format::named("report");
    /// Unknown: fits every edge. What `command` stages write unless they say otherwise.
    pub const ANY: Format = Format::named("any");

    /// A format of a stage's own.
    pub const fn named(name: &'static str) -> Self {
        Format(Cow::Borrowed(name))
    }

    /// A format whose name was read from a file.
    pub fn from_name(name: impl Into<String>) -> Self {
        Format(Cow::Owned(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if a file of this format may be read where `wanted` is expected.
    pub fn fits(&self, wanted: &Format) -> bool {
        self == wanted || *self == Format::ANY || *wanted == Format::ANY
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
