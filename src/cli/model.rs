//! Arguments of the commands for models: `cwm model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::PipelineArguments;
use super::completers::{complete, stages};
use super::pipeline::assignment;

/// The commands for models.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Convert a PyTorch or safetensors model
    ///
    /// Writes a checkpoint that stages and `cwm model track` read. Nothing in the file is executed.
    Import(ImportArguments),
    /// Compare predicted and true boards
    ///
    /// Follows a game: prints the board that the model predicts next to the true one, ply by ply. Of a model of words it prints the
    /// three likeliest next moves.
    Track(TrackArguments),
    /// Compare models with reference outputs
    ///
    /// Prints a line for each fixture of the authors' code, with the worst difference; exit code 6 if one differs too much.
    Parity(ParityArguments),
    /// List devices; explain unusable GPUs
    Devices,
}

/// Arguments of `model import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A file of torch.save (.pt, .pth) or of safetensors
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The folder of the new checkpoint
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The form of what it reads: words (it predicts words of moves), board, prompt, characters or moves (it answers
    /// with a move) [default: it predicts labels]
    #[arg(long, value_name = "FORM")]
    pub form: Option<String>,
    /// Facts about the model
    #[command(flatten)]
    pub hints: ModelHintArguments,
}

/// Arguments of `model track`.
#[derive(Debug, Args)]
pub struct TrackArguments {
    /// A stage with a checkpoint, such as 'model[size=d128/l1]'; or a checkpoint's folder; or a file that `cwm model import`
    /// takes
    #[arg(value_name = "STAGE|DIR|FILE", add = complete(stages))]
    pub checkpoint: String,
    /// The moves, as e4, g1f3 or O-O [default: from --input, or standard input]
    #[arg(value_name = "MOVE")]
    pub moves: Vec<String>,
    /// Read the moves from this file, as moves or as PGN; `-` is standard input
    #[arg(short = 'i', long, value_name = "FILE", conflicts_with = "moves")]
    pub input: Option<PathBuf>,
    /// The number of the game in the PGN
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub game: u64,
    /// Print the board that linear probes of the model read, too: a stage with linear probes, or their folder
    #[arg(long, value_name = "STAGE|DIR", add = complete(stages))]
    pub probes: Option<String>,
    /// The layer that is read [default: the last that has a linear probe]
    #[arg(long, value_name = "L", requires = "probes")]
    pub layer: Option<u64>,
    /// Print only the numbers of positions and labels that were right, and the first error
    #[arg(long)]
    pub summary: bool,
    /// Facts about a model from a file
    #[command(flatten)]
    pub hints: ModelHintArguments,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `model parity`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct ParityArguments {
    /// Fixtures (.safetensors), lr-schedules.json, metrics.json, param-counts.json, or folders of them
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,
    /// The family of the fixtures [default: found by their manifest.json, names and shapes]
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// An option of the family, such as heads=2 or rope=standard (may be repeated)
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = assignment)]
    pub options: Vec<(String, String)>,
    /// The device to compute on
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub device: String,
}

/// Arguments of `uci`.
#[derive(Debug, Args)]
pub struct UciArguments {
    /// A stage with a checkpoint of `learn`, such as 'model[form=board]'; or a checkpoint's folder
    #[arg(value_name = "STAGE|DIR", add = complete(stages))]
    pub model: String,
    /// The rule by which it plays legal moves: it chooses among them (mask), or has five attempts to give one (attempts)
    #[arg(long, value_name = "RULE", default_value = "mask", value_parser = ["mask", "attempts"])]
    pub legality: String,
    /// The device to compute on
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub device: String,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Arguments of `reward`.
#[derive(Debug, Args)]
pub struct RewardArguments {
    /// A stage with graded items, such as 'trials'; or a file of them
    #[arg(value_name = "STAGE|FILE", add = complete(stages))]
    pub items: String,
    /// The rule by which the answer is found in a text, as in `grade`
    #[arg(long, value_name = "RULE", default_value = "release", value_parser = ["release", "lenient"])]
    pub reading: String,
    /// The scale of the value of a legal move, as in `grade`
    #[arg(long, value_name = "RULE", default_value = "normalise", value_parser = ["normalise", "linear"])]
    pub scaling: String,
    /// A legal move whose scaled value is below this has the reward 0
    #[arg(long, value_name = "SHARE", default_value_t = 0.3)]
    pub cut: f64,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

/// Facts about a model in a file of another program.
#[derive(Debug, Args)]
pub struct ModelHintArguments {
    /// The family of the model, if the file does not determine it
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// The expected size, such as d128/l1; an error if it differs
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// An option of its family, such as heads=2 or rope=standard (may be repeated)
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = assignment)]
    pub options: Vec<(String, String)>,
    /// The path of the parameters in the file, such as model_state_dict, if it has several models
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Round float64 parameters to float32 [default: refuse values that do not fit]
    #[arg(long)]
    pub round: bool,
}

impl ModelHintArguments {
    /// Converts the options for the reader of the file.
    pub fn hints(&self) -> cwm_contract::ModelHints {
        cwm_contract::ModelHints {
            family: self.family.clone(),
            size: self.size.clone(),
            options: self.options.iter().cloned().collect(),
            key: self.key.clone(),
            round: self.round,
            form: None,
        }
    }
}
