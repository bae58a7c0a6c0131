//! The stages, the inspector of artifacts, the SQL engine, the model tools and the rewards that were compiled in.

use cwm_contract::{Inspector, ModelTools, QueryEngine, RewardServer, Stage};
use cwm_core::{Error, Registry};

use crate::fingerprint::code_of;

/// Declares the stages of a full build, each with the cargo feature that compiles it in. Feature and kind have the same name.
macro_rules! stages {
    ($($kind:literal: $stage:expr,)*) => {
        /// The kinds of a full build.
        const ALL: &[&str] = &[$($kind),*];

        /// Returns the stages that were compiled in.
        pub fn built_in() -> Registry {
            let stages: Vec<&'static dyn Stage> = vec![$(#[cfg(feature = $kind)] &$stage),*];
            let mut registry = Registry::new(stages, ALL, code_of);
            registry.has_gpu_support = cfg!(feature = "cuda");
            registry
        }
    };
}

stages! {
    "download": cwm_download::Download,
    "play": cwm_play::Play,
    "parse": cwm_parse::Parse,
    "import": cwm_import::Import,
    "bag": cwm_bag::Bag,
    "analyse": cwm_analyse::Analyse,
    "comments": cwm_comments::Comments,
    "encode": cwm_encode::Encode,
    "transpositions": cwm_transpositions::Transpositions,
    "choose": cwm_choose::Choose,
    "questions": cwm_questions_stage::Questions,
    "examples": cwm_examples::Examples,
    "keep": cwm_keep::Keep,
    "mix": cwm_mix::Mix,
    "split": cwm_split::Split,
    "tokenize": cwm_tokenize::Tokenize,
    "train": cwm_train::Train,
    "learn": cwm_learn::Learn,
    "pretrained": cwm_pretrained::Pretrained,
    "select": cwm_select::Select,
    "evaluate": cwm_evaluate::Evaluate,
    "linear_probe": cwm_linear_probe::LinearProbe,
    "edit": cwm_edit::EditStage,
    "autoencoder": cwm_autoencoder::AutoencoderStage,
    "alignment": cwm_alignment::AlignmentStage,
    "legality": cwm_legality::Legality,
    "match": cwm_match::Match,
    "bins": cwm_bins::Bins,
    "compare": cwm_compare::Compare,
    "claim": cwm_claim::Claim,
    "answer": cwm_answer::Answer,
    "grade": cwm_grade::Grade,
    "report": cwm_report::Report,
}

/// Returns the inspector of artifacts, if it is compiled in: the cargo feature `inspect`.
pub fn inspector() -> Option<&'static dyn Inspector> {
    cfg_select! { feature = "inspect" => Some(&cwm_inspect::ChessInspector), _ => None }
}

/// Returns the SQL engine, if it is compiled in: the cargo feature `sql`.
pub fn query_engine() -> Option<&'static dyn QueryEngine> {
    cfg_select! { feature = "sql" => Some(&cwm_query::SqlEngine), _ => None }
}

/// Returns the tools for single models, if they are compiled in: the cargo feature `model-tools`.
pub fn model_tools() -> Option<&'static dyn ModelTools> {
    cfg_select! { feature = "model-tools" => Some(&cwm_model_tools::ChessModelTools), _ => None }
}

/// Returns what gives rewards, if it is compiled in: the cargo feature `reward`.
pub fn reward_server() -> Option<&'static dyn RewardServer> {
    cfg_select! { feature = "reward" => Some(&cwm_reward::ItemRewards), _ => None }
}

/// Returns the model tools, for a command that needs them.
///
/// # Errors
/// They are not compiled in.
pub fn require_model_tools() -> Result<&'static dyn ModelTools, Error> {
    model_tools().ok_or_else(|| not_compiled_in("this build of cwm has no models", "model-tools"))
}

/// Returns the error of a command that needs a cargo feature.
pub fn not_compiled_in(problem: &str, feature: &str) -> Error {
    Error::usage(problem).hint(format!("build it with the cargo feature `{feature}`, which is on by default"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_is_known_and_the_rest_is_left_out() {
        let registry = built_in();
        for kind in ALL {
            assert!(registry.get(kind).is_some() != registry.is_compiled_out(kind), "{kind}");
        }
        assert!(registry.iter().all(|stage| ALL.contains(&stage.kind())));
        assert!(!registry.is_compiled_out("prase"));
    }
}
