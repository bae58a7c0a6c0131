//! The stages and parameters whose probes are taken.

use std::error::Error;
use std::fs;

use cwm_alignment::AlignmentStage;
use cwm_analyse::Analyse;
use cwm_answer::Answer;
use cwm_autoencoder::AutoencoderStage;
use cwm_bag::Bag;
use cwm_bins::Bins;
use cwm_choose::Choose;
use cwm_claim::Claim;
use cwm_comments::Comments;
use cwm_compare::Compare;
use cwm_contract::{Stage, Value, Values, testing};
use cwm_edit::EditStage;
use cwm_encode::Encode;
use cwm_evaluate::Evaluate;
use cwm_examples::Examples;
use cwm_generate::Generate;
use cwm_grade::Grade;
use cwm_keep::Keep;
use cwm_learn::Learn;
use cwm_legality::Legality;
use cwm_linear_probe::LinearProbe;
use cwm_match::Match;
use cwm_mix::Mix;
use cwm_parse::Parse;
use cwm_play::Play;
use cwm_questions_stage::Questions;
use cwm_reinforce::Reinforce;
use cwm_select::Select;
use cwm_split::Split;
use cwm_tokenize::Tokenize;
use cwm_train::Train;
use cwm_transpositions::Transpositions;

use crate::Probes;

/// Model families by their names in the registry.
const FAMILIES: [&str; 8] =
    ["transformer", "slice", "slice_diag", "mamba2", "mamba3", "mamba3_mimo", "gated_deltanet", "gated_deltanet_pos"];

/// All probes.
///
/// # Errors
/// A probe cannot be taken.
pub fn probes() -> Result<Probes, Box<dyn Error>> {
    let mut probes = Probes::new();
    games(&mut probes)?;
    trainings(&mut probes)?;
    comparisons(&mut probes)?;
    moves(&mut probes)?;
    items(&mut probes)?;
    texts(&mut probes)?;
    insides(&mut probes)?;
    Ok(probes)
}

/// Takes the probe of `stage` with these parameters, and the defaults of others.
fn take(probes: &mut Probes, name: &str, stage: &dyn Stage, given: &[(&str, Value)]) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let values: Values = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let probed = testing::probe(stage, values, &fs::canonicalize(folder.path())?)
        .map_err(|failure| format!("{name}: {failure}"))?;
    for (entry, bytes) in probed.unwrap_or_default() {
        probes.insert(format!("{name}/{entry}"), blake3::hash(&bytes).to_hex()[..16].to_owned());
    }
    Ok(())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn games(probes: &mut Probes) -> Result<(), Box<dyn Error>> {
    take(probes, "parse", &Parse, &[])?;
    take(probes, "parse-authors", &Parse, &[("rules", text("authors"))])?;
    take(probes, "split", &Split, &[])?;
    take(probes, "tokenize", &Tokenize, &[])?;
    let games = ("games", Value::Int(100));
    take(probes, "play-engine", &Play, &[("policy", text("engine")), games.clone()])?;
    take(probes, "play-uniform", &Play, &[("policy", text("uniform")), games])
}

fn trainings(probes: &mut Probes) -> Result<(), Box<dyn Error>> {
    let size = ("size", text("d64/l1"));
    for family in FAMILIES {
        let family_is = ("family", text(family));
        take(probes, &format!("train-{family}"), &Train, &[family_is.clone(), size.clone()])?;
        take(probes, &format!("evaluate-{family}"), &Evaluate, &[family_is])?;
    }
    for (name, other) in [
        ("bf16", ("precision", text("bf16"))),
        ("bucketed", ("batching", text("bucketed"))),
        ("order", ("order", text("authors"))),
        ("linear", ("schedule", text("linear"))),
        ("legal", ("en_passant", text("legal"))),
    ] {
        take(probes, &format!("train-{name}"), &Train, &[size.clone(), other])?;
    }
    take(probes, "learn", &Learn, &[size])?;
    take(probes, "reinforce", &Reinforce, &[])
}

fn comparisons(probes: &mut Probes) -> Result<(), Box<dyn Error>> {
    take(probes, "select", &Select, &[])?;
    // The second best of those that have this warm-up: the value of each must be looked at.
    let by_hand = [("lr", Value::Float(1e-3 / 6.0)), ("warmup", Value::Float(0.25))];
    let mut by_hand = Value::Map(by_hand.map(|(name, value)| (name.to_owned(), value)).into());
    for key in ["d64/l2", "slice"] {
        by_hand = Value::Map([(key.to_owned(), by_hand)].into());
    }
    take(probes, "select-by_hand", &Select, &[("overrides", by_hand)])?;
    take(probes, "bins", &Bins, &[])?;
    take(probes, "compare", &Compare, &[])?;
    // The probe has claims of its own; some must be given.
    take(probes, "claim", &Claim, &[("expect", Value::List(vec![text("board.best > moves.best")]))])
}

/// Positions, and models that choose moves.
fn moves(probes: &mut Probes) -> Result<(), Box<dyn Error>> {
    take(probes, "bag", &Bag, &[])?;
    take(probes, "bag-values", &Bag, &[("records", text("action_value"))])?;
    take(probes, "analyse", &Analyse, &[])?;
    let placed = [("place", 20), ("max_pieces", 6), ("seed", 5)].map(|(name, number)| (name, Value::Int(number)));
    take(probes, "analyse-placed", &Analyse, &placed)?;
    take(probes, "transpositions", &Transpositions, &[])?;
    let few = [("classes", Value::Int(3)), ("seed", Value::Int(1))];
    take(probes, "transpositions-few", &Transpositions, &few)?;
    for form in ["words", "speech", "board"] {
        take(probes, &format!("encode-{form}"), &Encode, &[("form", text(form))])?;
    }
    take(probes, "choose", &Choose, &[])?;
    let random = [("first", text("random")), ("second", text("random")), ("games", Value::Int(2))];
    take(probes, "match-random", &Match, &random)
}

/// Items, and answers to them.
fn items(probes: &mut Probes) -> Result<(), Box<dyn Error>> {
    take(probes, "questions", &Questions, &[])?;
    take(probes, "answer-server", &Answer, &[("model", text("a"))])?;
    let random = [("player", text("random")), ("samples", Value::Int(2)), ("seed", Value::Int(3))];
    take(probes, "answer-random", &Answer, &random)?;
    take(probes, "generate", &Generate, &[])?;
    take(probes, "grade", &Grade, &[("seed", Value::Int(3))])
}

/// Texts to learn from.
fn texts(probes: &mut Probes) -> Result<(), Box<dyn Error>> {
    take(probes, "comments", &Comments, &[])?;
    take(probes, "examples-factual", &Examples, &[("builder", text("factual")), ("seed", Value::Int(7))])?;
    take(probes, "keep", &Keep, &[("limit", Value::Int(5))])?;
    let weights = [("built", 0.75), ("kept", 0.25)].map(|(name, weight)| (name.to_owned(), Value::Float(weight)));
    take(probes, "mix", &Mix, &[("weights", Value::Map(weights.into())), ("tokens", Value::Int(40))])
}

/// The insides of models.
fn insides(probes: &mut Probes) -> Result<(), Box<dyn Error>> {
    let family = [("family", text("gpt"))];
    take(probes, "legality", &Legality, &family)?;
    take(probes, "linear_probe", &LinearProbe, &family)?;
    take(probes, "autoencoder", &AutoencoderStage, &family)?;
    take(probes, "alignment", &AlignmentStage, &family)?;
    take(probes, "edit", &EditStage, &family)
}
