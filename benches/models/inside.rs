//! What reading a model's inside costs, beside PyTorch in one run: `cargo bench -p cwm-benches-models --bench inside`.
//!
//! The model is a GPT of d128/l4 that reads words, its games are random ones of 140 words. Both programs use two threads.
//! Updates of linear probes and of autoencoders are measured as the difference of a long and a short run of the stage, so that
//! what comes before and after them does not count; rows of autoencoders then include the passes that they come from.
//! Figures are the best of several turns, the programs take turns. Machines are noisy: compare figures of one run, not runs.

mod clock;
mod peer;

use std::path::Path;

use cwm_autoencoder::AutoencoderStage;
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Stage, Value};
use cwm_inside::ModelTask;
use cwm_inside::sample::write_checkpoint;
use cwm_linear_probe::LinearProbe;
use cwm_models::tokens::Tokens;
use cwm_models::{Architecture, DeviceWeights, ForwardPass, Network, Sites, device};
use cwm_parse::Parse;
use cwm_play::Play;
use cwm_tokenize::Tokenize;

use self::clock::{LONGEST, Seconds, least, measured};
use self::peer::Peer;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURNS: usize = 5;
const THREADS: usize = 2;
const GAMES: i128 = 200;
const WORDS: usize = 140;
const WIDTH: usize = 128;
const LAYERS: usize = 4;
const RATIO: usize = 16;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    println!("{:<56} {:>10} {:>10} {:>6}", "what", "cwm", "peer", "ratio");
    keeping();
    let python = peer::python();
    let folder = tempfile::tempdir().expect("a folder");
    write_checkpoint(&folder.path().join("checkpoint"), ModelTask::Moves, "gpt", "d128/l4", 1).expect("room");
    // Of another kind, so that no game has the id of another.
    dataset(folder.path(), "train", "uniform", GAMES);
    dataset(folder.path(), "test", "engine", 4);
    let start = |python| Peer::start(python, "inside.py", folder.path(), &[&THREADS.to_string()]);
    let mut peer = python.as_ref().map(start);
    probes(folder.path(), peer.as_mut());
    autoencoders(folder.path(), peer.as_mut());
    if let Some(peer) = peer {
        println!("beside PyTorch {}", peer.version);
    }
}

/// A pass that keeps all sites, beside one that keeps none.
fn keeping() {
    let options = [("gelu", "tanh"), ("positions", "512"), ("tied", "true")];
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: "d128/l4".parse().expect("a size"),
        vocabulary: 72,
        dropout: 0.0,
        options: options.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    };
    let network = Network::build(architecture, 72).expect("a model");
    let (weights, cpu) = (network.initial_weights(1), device::cpu());
    let weights = DeviceWeights::new(&weights, &cpu);
    let games: Vec<Vec<u16>> =
        (0..16).map(|game| (0..WORDS).map(|t| ((game * 7 + t * 5) % 72) as u16).collect()).collect();
    let games: Vec<&[u16]> = games.iter().map(Vec::as_slice).collect();
    let tokens = Tokens::padded(games.iter().copied(), 0);
    let pass = |keep: Vec<usize>| {
        let pass = ForwardPass::evaluation(&weights).with_sites(Sites { keep, edit: None });
        let logits = network.flat_logits(&pass, &tokens).into_data();
        assert!(logits.as_slice::<f32>().is_ok());
        for (_, kept) in pass.kept() {
            assert!(kept.into_data().as_slice::<f32>().is_ok());
        }
    };
    let (mut all, mut none) = (LONGEST, LONGEST);
    for _ in 0..20 * TURNS {
        all = least(all, measured(|| pass((0..network.sites()).collect())));
        none = least(none, measured(|| pass(Vec::new())));
    }
    row("pass that keeps all sites, beside none: CPU ms", all[1] * 1e3, none[1] * 1e3, all[1] / none[1]);
}

/// Games of `play` as a dataset.
fn dataset(folder: &Path, name: &str, policy: &str, games: i128) {
    let work = |step: &str| folder.join(format!("{step}-{name}"));
    let trial = Trial::new(work("play")).with("policy", Value::Text(policy.into())).with("games", Value::Int(games));
    let played = trial.run(&Play).expect("games");
    let parse = Trial::new(work("parse")).with("ids", Value::Text("site".into()));
    let parsed = parse.input("pgn", &played.outputs["pgn"]).run(&Parse).expect("games");
    let tokens =
        Trial::new(work("tokenize")).input("games", &parsed.outputs["games"]).run(&Tokenize).expect("a dataset");
    std::fs::rename(&tokens.outputs["dataset"], folder.join(name)).expect("a new name");
}

/// Runs a stage on the checkpoint and the games.
fn run(stage: &dyn Stage, folder: &Path, parameters: &[(&str, Value)]) -> Outcome {
    let work = tempfile::tempdir_in(folder).expect("a folder");
    let trial = Trial::new(work.path()).cores(THREADS).with("max_tokens", Value::Int(WORDS as i128));
    let inputs = ["checkpoint", "train", "test"];
    let trial = inputs.iter().fold(trial, |trial, input| trial.input(input, folder.join(input)));
    let trial = parameters.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()));
    trial.run(stage).expect("the stage runs")
}

/// What `stage` takes for so much more of a parameter than for `short`.
fn difference(
    stage: &dyn Stage,
    folder: &Path,
    parameters: &[(&str, Value)],
    (name, short, long): (&str, i128, i128),
) -> Seconds {
    let of = |value: i128| {
        let parameters: Vec<(&str, Value)> = parameters.iter().cloned().chain([(name, Value::Int(value))]).collect();
        measured(|| _ = run(stage, folder, &parameters))
    };
    let (short, long) = (of(short), of(long));
    [long[0] - short[0], long[1] - short[1]]
}

/// Epochs of linear probes of five sites; the peer trains them on as many random rows.
fn probes(folder: &Path, mut peer: Option<&mut Peer>) {
    let rows = GAMES as usize * (WORDS - 1);
    let parameters = [("last", Value::Int(0)), ("resamples", Value::Int(1))];
    let (mut ours, mut theirs) = (LONGEST, LONGEST);
    for _ in 0..TURNS {
        ours = least(ours, difference(&LinearProbe, folder, &parameters, ("epochs", 1, 4)));
        if let Some(peer) = &mut peer {
            theirs = least(theirs, peer.ask(&format!("probes {rows} {WIDTH} {} 256 3", LAYERS + 1)));
        }
    }
    rates("linear probes of 5 sites: rows a second", (3 * rows) as f64, ours, theirs);
}

/// Updates of the autoencoders of four sites; the peer makes as many on random rows.
fn autoencoders(folder: &Path, mut peer: Option<&mut Peer>) {
    let (batch, updates) = (1024, 8);
    let parameters = [("batch_size", batch), ("reservoir", 4 * batch), ("ratio", RATIO as i128), ("test_games", 1)];
    let parameters = parameters.map(|(name, value)| (name, Value::Int(value)));
    let (mut ours, mut theirs) = (LONGEST, LONGEST);
    for _ in 0..TURNS {
        let tokens = ("tokens", 4 * batch, (4 + updates) * batch);
        ours = least(ours, difference(&AutoencoderStage, folder, &parameters, tokens));
        if let Some(peer) = &mut peer {
            let latents = RATIO * WIDTH;
            theirs = least(theirs, peer.ask(&format!("autoencoders {batch} {WIDTH} {latents} {LAYERS} {updates}")));
        }
    }
    rates("autoencoders of 4 sites, 128 to 2,048: rows a second", (updates * batch) as f64, ours, theirs);
}

/// Two rows: rates by the processors' time, and by the clock.
fn rates(what: &str, rows: f64, ours: Seconds, theirs: Seconds) {
    for (of, place) in [("CPU", 1), ("clock", 0)] {
        row(&format!("{what}, {of}"), rows / ours[place], rows / theirs[place], theirs[place] / ours[place]);
    }
}

fn row(what: &str, ours: f64, peer: f64, ratio: f64) {
    let number = |value: f64| if value > 0.0 && value.is_finite() { format!("{value:.1}") } else { "-".into() };
    let ratio = if ratio.is_finite() { format!("{ratio:.2}") } else { "-".into() };
    println!("{what:<56} {:>10} {:>10} {ratio:>6}", number(ours), number(peer));
}
