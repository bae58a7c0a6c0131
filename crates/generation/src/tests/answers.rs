//! Answers of models of all families, with fresh weights.

use cwm_game::StreamRng;
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Architecture, DeviceWeights, ForwardPass, Network, Tokens, device, families};

use crate::sample::sample_by;
use crate::{Model, Sampling, sample};

const WORDS: usize = 20;
const END: u16 = 18;
const LONGEST: usize = 7;

fn network(family: &str, options: &[(&str, &str)]) -> Network {
    let architecture = Architecture {
        family: family.to_owned(),
        size: "d64/l2".parse().unwrap(),
        vocabulary: WORDS,
        dropout: 0.0,
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    Network::build(architecture, WORDS).unwrap()
}

/// A model of each family with its default options, and one that reads nothing twice the whole way.
fn networks() -> Vec<Network> {
    let gpt = network("gpt", &[("mask", "none")]);
    let all = families::FAMILIES.iter().map(|family| network(family.name, &[]));
    all.chain([gpt, network("transformer", &[("rope", "standard")])]).collect()
}

/// Fresh weights, larger ones in the head, so that words differ in probability.
fn weights(network: &Network) -> Weights {
    let mut weights = network.initial_weights(5);
    weights.values_mut().iter_mut().for_each(|weight| *weight *= 1.5);
    weights
}

/// Prompts of 1 to 9 words.
fn prompts(count: usize) -> Vec<Vec<u16>> {
    let word = |prompt: usize, place: usize| ((7 * prompt + 3 * place + prompt * place) % 18) as u16;
    (0..count).map(|prompt| (0..1 + prompt * 5 % 9).map(|place| word(prompt, place)).collect()).collect()
}

fn stream(prompt: usize, number: usize) -> StreamRng {
    StreamRng::new("test", "0", (number * 1_000 + prompt) as u64)
}

fn greedy() -> Sampling {
    Sampling { temperature: 0.0, ..Sampling::plain(END, LONGEST) }
}

#[test]
fn answers_depend_neither_on_those_beside_them_nor_on_threads() {
    for network in networks() {
        let (weights, prompts) = (weights(&network), prompts(13));
        let model = Model::new(&network, &weights, &device::cpu());
        for sampling in [greedy(), Sampling { top_k: Some(9), top_p: 0.9, ..Sampling::plain(END, LONGEST) }] {
            let answers = |batch: usize, threads: usize, samples: usize| {
                let workers = WorkerPool::new(threads).unwrap();
                sample_by(batch, &model, &workers, &prompts, samples, &sampling, &stream).unwrap()
            };
            let name = &network.architecture().family;
            let alone = answers(1, 1, 2);
            assert_eq!((alone.len(), alone[0].len()), (13, 2), "{name}");
            for (batch, threads) in [(7, 2), (64, 1)] {
                assert_eq!(answers(batch, threads, 2), alone, "{name}: {batch} together, {threads} threads");
            }
            // Nor on how many there are to a prompt.
            let single = answers(64, 1, 1);
            assert!(single.iter().zip(&alone).all(|(one, two)| one[0] == two[0]), "{name}");
            assert_eq!(alone.iter().all(|answers| answers[0] == answers[1]), sampling.temperature == 0.0, "{name}");
        }
    }
}

/// Answers are those of a whole pass through all words for each word.
#[test]
fn the_likeliest_words_are_those_of_whole_passes() {
    for network in networks().into_iter().filter(|network| network.recurrent().is_none()) {
        let (weights, prompts) = (weights(&network), prompts(6));
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let workers = WorkerPool::new(1).unwrap();
        let model = Model::new(&network, &weights, &device::cpu());
        let found = sample(&model, &workers, &prompts, 1, &greedy(), &stream).unwrap();
        for (prompt, found) in prompts.iter().zip(found) {
            let (mut words, mut expected) = (prompt.clone(), Vec::new());
            while expected.len() < LONGEST && expected.last() != Some(&END) {
                let pass = ForwardPass::evaluation(&device_weights);
                let tokens = Tokens::padded([words.as_slice()], 0);
                let logits = network.logits_at(&pass, &tokens, &[words.len() - 1]).into_data();
                let word = greedy().choose(logits.as_slice::<f32>().unwrap(), &expected, || 0.0).unwrap();
                words.push(word);
                expected.push(word);
            }
            assert_eq!(found, [expected], "{}", network.architecture().family);
        }
    }
}

/// The same token by token.
#[test]
fn the_likeliest_words_of_recurrent_models_are_those_of_their_steps() {
    for network in networks() {
        let Some(recurrent) = network.recurrent() else { continue };
        let (weights, prompts) = (weights(&network), prompts(4));
        let model = Model::new(&network, &weights, &device::cpu());
        let found = sample(&model, &WorkerPool::new(2).unwrap(), &prompts, 1, &greedy(), &stream).unwrap();
        for (prompt, found) in prompts.iter().zip(found) {
            let (mut state, mut logits) = (recurrent.start(&weights), Vec::new());
            let mut expected = Vec::new();
            prompt.iter().for_each(|&word| logits = recurrent.step(&weights, &mut state, u32::from(word)));
            while expected.len() < LONGEST && expected.last() != Some(&END) {
                let word = greedy().choose(&logits, &expected, || 0.0).unwrap();
                logits = recurrent.step(&weights, &mut state, u32::from(word));
                expected.push(word);
            }
            assert_eq!(found, [expected], "{}", network.architecture().family);
        }
    }
}

#[test]
fn an_answer_stops_at_its_end_or_is_cut() {
    let network = network("transformer", &[]);
    let weights = weights(&network);
    let model = Model::new(&network, &weights, &device::cpu());
    let answers = |sampling: &Sampling| {
        let workers = WorkerPool::new(1).unwrap();
        sample(&model, &workers, &prompts(5), 3, sampling, &stream).unwrap().concat()
    };
    let plain = Sampling::plain(END, 60);
    let free = answers(&plain);
    let is_whole = |answer: &Vec<u16>| answer.iter().position(|word| *word == END) == Some(answer.len() - 1);
    assert!(free.iter().all(|answer| is_whole(answer) || answer.len() == 60 && !answer.contains(&END)));
    assert!(free.iter().any(is_whole));
    // Cut, they are the beginnings of the same.
    for max_tokens in [1, 4] {
        let cut = answers(&Sampling { max_tokens, ..plain.clone() });
        assert!(cut.iter().zip(&free).all(|(cut, free)| *cut == free[..max_tokens.min(free.len())]));
    }
    assert!(answers(&Sampling { end: free[0][0], ..plain })[0] == free[0][..1]);
}

#[test]
fn what_a_model_cannot_read_or_compute_is_an_error_in_words() {
    let network = network("gpt", &[("positions", "12")]);
    let mut weights = weights(&network);
    let workers = WorkerPool::new(1).unwrap();
    let message = |weights: &Weights, prompts: &[Vec<u16>], sampling: &Sampling| {
        let model = Model::new(&network, weights, &device::cpu());
        sample(&model, &workers, prompts, 1, sampling, &stream).map(|_| ()).unwrap_err().message
    };
    assert_eq!(
        message(&weights, &prompts(3), &Sampling::plain(END, 12)),
        "a sequence of 17 tokens is longer than the 12 positions of gpt d64/l2"
    );
    let short = Sampling::plain(END, 3);
    for prompts in [vec![Vec::new()], vec![vec![20]]] {
        assert!(message(&weights, &prompts, &short).starts_with("a prompt has a word that the model knows"));
    }
    assert!(message(&weights, &prompts(1), &Sampling { max_tokens: 0, ..short.clone() }).contains("room for one"));
    weights.values_mut().fill(f32::NAN);
    assert_eq!(message(&weights, &prompts(1), &short), "the logits of the model are not all finite");
}
