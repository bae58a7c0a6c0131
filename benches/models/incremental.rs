//! What a pass costs that goes on from others, beside whole passes in one run:
//! `cargo bench -p cwm-benches-models --bench incremental`.
//!
//! A *move* is what a player of text computes by mask: the likelihoods of 30 answers of 5 characters after a game of 300, of which
//! all but the last two answers were passed for the move before. An *edit* is a vector added to the stream at the last token of a
//! prefix: 20 prefixes of 40 tokens, at each site, four vectors each; the pass without edits counts too. Whole passes are
//! batched as they were before there were others. One thread; figures are the least of several turns, in milliseconds of a move
//! and in edits a second. Machines are noisy: compare figures of one run, not runs.

use std::collections::BTreeMap;
use std::time::Instant;

use cwm_models::batch::cut_by_length;
use cwm_models::worker_pool::on_one_thread;
use cwm_models::{Architecture, Cache, ContinuationPoint, DeviceWeights, ForwardPass, Network, Sites, Tokens, device};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURNS: usize = 5;
const VOCABULARY: usize = 72;
/// Padded tokens of a whole pass.
const BATCH_TOKENS: usize = 2_048;

/// Tokens of the game, of which as many are kept in whole parts; tokens of a part.
const GAME: usize = 300;
const PART: usize = 32;
const ANSWERS: usize = 30;
const ANSWER: usize = 5;

const PREFIXES: usize = 20;
const PREFIX: usize = 40;
const VECTORS: usize = 4;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    println!("{:<44} {:>12} {:>12} {:>7}", "what", "goes on", "whole", "ratio");
    for size in ["d64/l2", "d128/l4"] {
        let network = network(size);
        let weights = network.initial_weights(1);
        let weights = DeviceWeights::owned(&weights, &device::cpu());
        let [ours, whole] = on_one_thread(|| moves(&network, &weights));
        let (one, two) = (format!("{:.2} ms", ours * 1e3), format!("{:.2} ms", whole * 1e3));
        println!("{:<44} {one:>12} {two:>12} {:>7.1}", format!("a move of text, {size}"), whole / ours);
        let [ours, whole] = on_one_thread(|| edits(&network, &weights));
        let number = (PREFIXES * VECTORS * network.sites()) as f64;
        let (one, two) = (format!("{:.0}/s", number / ours), format!("{:.0}/s", number / whole));
        println!("{:<44} {one:>12} {two:>12} {:>7.1}", format!("edits at all sites, {size}"), whole / ours);
    }
}

fn network(size: &str) -> Network {
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: size.parse().expect("a size such as d128/l4"),
        vocabulary: VOCABULARY,
        dropout: 0.0,
        options: BTreeMap::from([("tied".to_owned(), "true".to_owned())]),
    };
    Network::build(architecture, VOCABULARY).expect("a model")
}

fn sequence(number: usize, length: usize) -> Vec<u16> {
    (0..length).map(|t| ((number * 7 + t * t * 5 + t) % 71) as u16).collect()
}

fn batch(sequences: &[Vec<u16>]) -> Tokens {
    Tokens::padded(sequences.iter().map(Vec::as_slice), 71)
}

/// Seconds of the fastest of some turns of both; the first turn warms up. What they compute must agree.
fn fastest(ours: impl Fn() -> Vec<f32>, whole: impl Fn() -> Vec<f32>) -> [f64; 2] {
    let (found, expected) = (ours(), whole());
    assert_eq!(found.len(), expected.len());
    let apart = found.iter().zip(&expected).map(|(one, two)| (one - two).abs()).fold(0.0, f32::max);
    assert!(apart <= 1e-5, "{apart}");
    let mut least = [f64::INFINITY; 2];
    for _ in 0..TURNS {
        for (least, work) in least.iter_mut().zip([&ours as &dyn Fn() -> Vec<f32>, &whole]) {
            let start = Instant::now();
            std::hint::black_box(work());
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least
}

/// Logits of these rows of whole passes, in the order of the sequences.
fn whole_passes(network: &Network, weights: &DeviceWeights<'_>, sequences: &[Vec<u16>], last: usize) -> Vec<f32> {
    let lengths: Vec<usize> = sequences.iter().map(Vec::len).collect();
    let mut found = vec![Vec::new(); sequences.len()];
    for cut in cut_by_length(&lengths, BATCH_TOKENS) {
        let tokens = batch(&cut.iter().map(|&place| sequences[place].clone()).collect::<Vec<_>>());
        let rows = (0..cut.len()).flat_map(|place| {
            let end = place * tokens.time() + tokens.lengths()[place];
            end - last..end
        });
        let pass = ForwardPass::evaluation(weights);
        let logits = floats(network.logits_at(&pass, &tokens, &rows.collect::<Vec<_>>()));
        cut.iter().zip(logits.chunks_exact(last * VOCABULARY)).for_each(|(&place, rows)| found[place] = rows.to_vec());
    }
    found.concat()
}

fn floats(tensor: burn::tensor::Tensor<2>) -> Vec<f32> {
    tensor.into_data().try_to_vec().expect("f32")
}

/// Seconds of a move.
fn moves(network: &Network, weights: &DeviceWeights<'_>) -> [f64; 2] {
    let model = network.incremental().expect("gpt goes on");
    let game = sequence(0, GAME);
    let answers: Vec<Vec<u16>> = (1..=ANSWERS).map(|number| sequence(number, ANSWER - 1)).collect();
    let pass = ForwardPass::evaluation(weights);
    let on = |cache: Cache, end: usize| {
        let steps = cache.steps();
        let (x, later) = model.continue_from(
            &pass,
            &cache,
            &[ContinuationPoint { sequence: 0, steps }],
            &batch(&[game[steps..end].to_vec()]),
        );
        (x, cache.followed_by(&later))
    };
    let (kept, in_parts) = ((GAME - 2 * ANSWER) / PART * PART, (GAME - 1) / PART * PART);
    let first = (PART..=kept)
        .step_by(PART)
        .skip(1)
        .fold(model.start(&pass, &batch(&[game[..PART].to_vec()])).1, |cache, end| on(cache, end).1);
    let ours = || {
        let cache = (kept + PART..=in_parts).step_by(PART).fold(first.clone(), |cache, end| on(cache, end).1);
        let tail = GAME - cache.steps();
        let (x, cache) = on(cache, GAME);
        let last = floats(network.logits_of_rows(&pass, x, &[tail - 1]));
        let after = vec![ContinuationPoint { sequence: 0, steps: GAME }; ANSWERS];
        let (x, _) = model.continue_from(&pass, &cache, &after, &batch(&answers));
        let rows = floats(network.logits_from(&pass, x));
        rows.chunks_exact((ANSWER - 1) * VOCABULARY).flat_map(|rows| [&last[..], rows].concat()).collect()
    };
    let whole: Vec<Vec<u16>> = answers.iter().map(|answer| [game.as_slice(), answer].concat()).collect();
    fastest(ours, || whole_passes(network, weights, &whole, ANSWER))
}

/// Seconds of all edits of all prefixes.
fn edits(network: &Network, weights: &DeviceWeights<'_>) -> [f64; 2] {
    use burn::tensor::{Tensor, TensorData};
    use cwm_models::{Change, Edit};

    let model = network.incremental().expect("gpt goes on");
    let width = network.architecture().size.width;
    let prefixes: Vec<Vec<u16>> = (0..PREFIXES).map(|number| sequence(number, PREFIX)).collect();
    let vector = |number: usize| (0..width).map(move |channel| ((number * 13 + channel * 7) % 19) as f32 / 19.0 - 0.5);
    let tensor = |values: Vec<f32>| {
        let rows = values.len() / width;
        Tensor::<2>::from_data(TensorData::new(values, [rows, width]), &device::cpu())
    };
    let numbers: Vec<usize> = (0..PREFIXES * VECTORS).collect();
    let ours = || {
        let keep = (0..network.sites()).collect();
        let pass = ForwardPass::evaluation(weights).with_sites(Sites { keep, edit: None });
        let (x, cache) = model.start(&pass, &batch(&prefixes));
        let last: Vec<usize> = (0..PREFIXES).map(|prefix| (prefix + 1) * PREFIX - 1).collect();
        let mut logits = floats(network.logits_of_rows(&pass, x, &last));
        let after: Vec<ContinuationPoint> =
            numbers.iter().map(|number| ContinuationPoint { sequence: number / VECTORS, steps: PREFIX - 1 }).collect();
        for (site, stream) in pass.kept() {
            let stream = floats(stream);
            let rows = numbers.iter().flat_map(|&number| {
                let row = last[number / VECTORS] * width;
                stream[row..row + width].iter().zip(vector(number)).map(|(x, vector)| x + vector)
            });
            let plain = ForwardPass::evaluation(weights);
            let x = model.continue_from_site(&plain, &cache, &after, site, tensor(rows.collect()));
            logits.extend(floats(network.logits_from(&plain, x)));
        }
        logits
    };
    let whole = || {
        let mut logits = whole_passes(network, weights, &prefixes, 1);
        for site in 0..network.sites() {
            for chunk in numbers.chunks(BATCH_TOKENS / PREFIX) {
                let tokens = batch(&chunk.iter().map(|number| prefixes[number / VECTORS].clone()).collect::<Vec<_>>());
                let rows: Vec<usize> = (1..=chunk.len()).map(|end| end * PREFIX - 1).collect();
                let vectors = tensor(chunk.iter().flat_map(|&number| vector(number)).collect());
                let change = Change::Add { rows: rows.clone(), vectors };
                let sites = Sites { keep: Vec::new(), edit: Some(Edit { site, change }) };
                let pass = ForwardPass::evaluation(weights).with_sites(sites);
                logits.extend(floats(network.logits_at(&pass, &tokens, &rows)));
            }
        }
        logits
    };
    fastest(ours, whole)
}
