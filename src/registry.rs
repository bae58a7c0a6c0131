//! What was compiled in: the stages, the inspector of artifacts, the SQL engine and the model tools.

use cwm_contract::{Inspector, ModelTools, QueryEngine, Stage};
use cwm_core::{Error, Registry};

use crate::fingerprint::code_of;

/// All kinds of a full build. Each is a cargo feature of its name.
const ALL: &[&str] = &[
    "download",
    "play",
    "parse",
    "import",
    "split",
    "tokenize",
    "train",
    "pretrained",
    "select",
    "evaluate",
    "bins",
    "compare",
    "report",
];

/// Returns the stages that were compiled in.
pub fn built_in() -> Registry {
    let stages: Vec<&'static dyn Stage> = vec![
        #[cfg(feature = "download")]
        &cwm_download::Download,
        #[cfg(feature = "play")]
        &cwm_play::Play,
        #[cfg(feature = "parse")]
        &cwm_parse::Parse,
        #[cfg(feature = "import")]
        &cwm_import::Import,
        #[cfg(feature = "split")]
        &cwm_split::Split,
        #[cfg(feature = "tokenize")]
        &cwm_tokenize::Tokenize,
        #[cfg(feature = "train")]
        &cwm_train::Train,
        #[cfg(feature = "pretrained")]
        &cwm_pretrained::Pretrained,
        #[cfg(feature = "select")]
        &cwm_select::Select,
        #[cfg(feature = "evaluate")]
        &cwm_evaluate::Evaluate,
        #[cfg(feature = "bins")]
        &cwm_bins::Bins,
        #[cfg(feature = "compare")]
        &cwm_compare::Compare,
        #[cfg(feature = "report")]
        &cwm_report::Report,
    ];
    let mut registry = Registry::new(stages, ALL, code_of);
    registry.has_gpu_support = cfg!(feature = "cuda");
    registry
}

/// Returns the inspector of artifacts, if it is compiled in: the cargo feature `inspect`.
pub fn inspector() -> Option<&'static dyn Inspector> {
    #[cfg(feature = "inspect")]
    return Some(&cwm_inspect::ChessInspector);
    #[cfg(not(feature = "inspect"))]
    None
}

/// Returns the SQL engine, if it is compiled in: the cargo feature `sql`.
pub fn query_engine() -> Option<&'static dyn QueryEngine> {
    #[cfg(feature = "sql")]
    return Some(&cwm_query::SqlEngine);
    #[cfg(not(feature = "sql"))]
    None
}

/// Returns the tools for single models, if they are compiled in: the cargo feature `model-tools`.
pub fn model_tools() -> Option<&'static dyn ModelTools> {
    #[cfg(feature = "model-tools")]
    return Some(&cwm_model_tools::ChessModelTools);
    #[cfg(not(feature = "model-tools"))]
    None
}

/// Returns the model tools, for a command that needs them.
///
/// # Errors
/// They are not compiled in.
pub fn require_model_tools() -> Result<&'static dyn ModelTools, Error> {
    model_tools().ok_or_else(|| {
        Error::usage("this build of cwm has no models")
            .hint("build it with the cargo feature `model-tools`, which is on by default")
    })
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
