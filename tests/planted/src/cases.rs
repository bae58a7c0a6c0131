//! The stages and parameters whose probes are taken.

use std::error::Error;
use std::fs;

use cwm_bins::Bins;
use cwm_compare::Compare;
use cwm_contract::{Stage, Value, Values, testing};
use cwm_evaluate::Evaluate;
use cwm_parse::Parse;
use cwm_play::Play;
use cwm_select::Select;
use cwm_split::Split;
use cwm_tokenize::Tokenize;
use cwm_train::Train;

use crate::Probes;

/// Model families by their names in the registry.
const FAMILIES: [&str; 8] =
    ["transformer", "slice", "slice_diag", "mamba2", "mamba3", "mamba3_mimo", "gated_deltanet", "gated_deltanet_pos"];

/// All probes.
///
/// # Errors
/// A probe cannot be taken.
pub fn probes() -> Result<Probes, Box<dyn Error>> {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut probes = Probes::new();
    let mut take = |name: &str, stage: &dyn Stage, given: &[(&str, Value)]| -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let values: Values = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let probed = testing::probe(stage, values, &fs::canonicalize(folder.path())?)
            .map_err(|failure| format!("{name}: {failure}"))?;
        for (entry, bytes) in probed.unwrap_or_default() {
            probes.insert(format!("{name}/{entry}"), blake3::hash(&bytes).to_hex()[..16].to_owned());
        }
        Ok(())
    };
    take("parse", &Parse, &[])?;
    take("parse-authors", &Parse, &[("rules", text("authors"))])?;
    take("split", &Split, &[])?;
    take("tokenize", &Tokenize, &[])?;
    let games = ("games", Value::Int(100));
    take("play-engine", &Play, &[("policy", text("engine")), games.clone()])?;
    take("play-uniform", &Play, &[("policy", text("uniform")), games])?;
    let size = ("size", text("d64/l1"));
    for family in FAMILIES {
        let family_is = ("family", text(family));
        take(&format!("train-{family}"), &Train, &[family_is.clone(), size.clone()])?;
        take(&format!("evaluate-{family}"), &Evaluate, &[family_is])?;
    }
    for (name, other) in [
        ("bf16", ("precision", text("bf16"))),
        ("bucketed", ("batching", text("bucketed"))),
        ("order", ("order", text("authors"))),
        ("linear", ("schedule", text("linear"))),
        ("legal", ("en_passant", text("legal"))),
    ] {
        take(&format!("train-{name}"), &Train, &[size.clone(), other])?;
    }
    take("select", &Select, &[])?;
    // The second best of those that have this warm-up: the value of each must be looked at.
    let by_hand = [("lr", Value::Float(1e-3 / 6.0)), ("warmup", Value::Float(0.25))];
    let mut by_hand = Value::Map(by_hand.map(|(name, value)| (name.to_owned(), value)).into());
    for key in ["d64/l2", "slice"] {
        by_hand = Value::Map([(key.to_owned(), by_hand)].into());
    }
    take("select-by_hand", &Select, &[("overrides", by_hand)])?;
    take("bins", &Bins, &[])?;
    take("compare", &Compare, &[])?;
    Ok(probes)
}
