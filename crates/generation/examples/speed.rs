//! Measures how many words a second models with fresh weights write, on all cores: 64 prompts of 30 words, 8 answers of 24 words to each.
//! `cargo run --release -p cwm-generation --example speed [SIZE]`

use std::time::Instant;

use cwm_game::GameStream;
use cwm_generation::{Model, Sampling, sample};
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Architecture, Network, device};

const WORDS: usize = 148;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = std::env::args().nth(1).unwrap_or_else(|| "d64/l2".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = WorkerPool::new(cores)?;
    for family in ["transformer", "gpt", "mamba2", "slice", "gated_deltanet"] {
        let architecture = Architecture {
            family: family.to_owned(),
            size: size.parse()?,
            vocabulary: WORDS,
            dropout: 0.0,
            options: Default::default(),
        };
        let network = match Network::build(architecture, WORDS) {
            Ok(network) => network,
            Err(error) => {
                println!("{family} {error}");
                continue;
            }
        };
        let weights = network.initial_weights(1);
        let model = Model::new(&network, &weights, &device::cpu());
        let prompts: Vec<Vec<u16>> = (0..64).map(|prompt| (0..30).map(|place| prompt + place).collect()).collect();
        // No word ends an answer, so that all are as long.
        let sampling = Sampling::plain(WORDS as u16, 24);
        let stream = |prompt: usize, answer: usize| GameStream::new("speed", "0", (prompt * 8 + answer) as u64);
        let start = Instant::now();
        let answers = sample(&model, &workers, &prompts, 8, &sampling, &stream)?;
        let seconds = start.elapsed().as_secs_f64();
        let words: usize = answers.iter().flatten().map(Vec::len).sum();
        println!("{family} {size}, {cores} threads: {:.0} words/s", words as f64 / seconds);
    }
    Ok(())
}
