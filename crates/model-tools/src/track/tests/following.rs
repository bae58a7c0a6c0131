//! Models that read a game as it goes on.

use cwm_contract::Failure;
use cwm_encoding::{PlainMove, START};
use cwm_models::device;
use cwm_models::families::FAMILIES;

use super::network;
use crate::track::game_predictor::GamePredictor;

/// The logits after each token.
fn read(predictor: &mut GamePredictor<'_>, tokens: &[u16]) -> Result<Vec<Vec<f32>>, Failure> {
    let mut all = Vec::new();
    predictor.read(tokens, &mut |logits| {
        all.push(logits.to_vec());
        Ok(())
    })?;
    Ok(all)
}

#[test]
fn recurrent_memory_stays_as_it_is_over_ten_thousand_moves() {
    let cycle: Vec<u16> = ["g1f3", "g8f6", "f3g1", "f6g8"].iter().map(|word| token(word)).collect();
    for family in FAMILIES {
        let network = network(family.name, "d64/l1");
        if network.recurrent().is_none() {
            continue;
        }
        let weights = network.initial_weights(1);
        let device = device::cpu();
        let mut predictor = GamePredictor::new(&network, &weights, &device);
        let bytes = |predictor: &GamePredictor<'_>| match predictor {
            GamePredictor::Recurrent { memory, .. } => {
                memory.0.iter().map(|array| array.capacity() * size_of::<f32>()).sum::<usize>()
            }
            GamePredictor::Whole { .. } => panic!("{} keeps all tokens", family.name),
        };
        read(&mut predictor, &[START]).unwrap();
        let before = bytes(&predictor);
        for ply in 0..10_000 {
            let logits = read(&mut predictor, &cycle[ply % 4..ply % 4 + 1]).unwrap();
            assert_eq!(logits.len(), 1);
            assert_eq!(bytes(&predictor), before, "{} after {ply} moves", family.name);
        }
    }
}

fn token(word: &str) -> u16 {
    let square = |at: usize| word[at..at + 2].parse::<shakmaty::Square>().unwrap();
    PlainMove { from: square(0), to: square(2), promotion: None }.token()
}

#[test]
fn a_model_that_reads_whole_games_says_when_one_is_too_long() {
    let network = network("transformer", "d2/l1");
    let weights = network.initial_weights(1);
    let device = device::cpu();
    let mut predictor = GamePredictor::new(&network, &weights, &device);
    assert_eq!(read(&mut predictor, &[START]).unwrap().len(), 1);
    let error = read(&mut predictor, &vec![token("g1f3"); 4_096]).unwrap_err();
    assert!(error.message.contains("more than 4095 plies"), "{}", error.message);
    assert_eq!(read(&mut predictor, &[token("g1f3"), token("g8f6")]).unwrap().len(), 2);
    assert!(read(&mut predictor, &[]).unwrap().is_empty());
}

#[test]
fn a_move_is_reported_before_the_next_is_read_however_many_come_at_once() {
    let tokens: Vec<u16> = ["g1f3", "g8f6", "f3g1", "f6g8"].iter().map(|word| token(word)).collect();
    for family in FAMILIES {
        let network = network(family.name, "d64/l1");
        let weights = network.initial_weights(1);
        let device = device::cpu();
        let predictor = || GamePredictor::new(&network, &weights, &device);
        let (GamePredictor::Recurrent { .. }, mut one, mut all) = (predictor(), predictor(), predictor()) else {
            continue;
        };
        let apart: Vec<Vec<f32>> = tokens[..2].iter().flat_map(|&token| read(&mut one, &[token]).unwrap()).collect();
        let mut told = Vec::new();
        let stopped = all.read(&tokens, &mut |logits| {
            told.push(logits.to_vec());
            if told.len() == 2 { Err(Failure::input("enough")) } else { Ok(()) }
        });
        assert_eq!((stopped.unwrap_err().message.as_str(), told), ("enough", apart), "{}", family.name);
        match (&one, &all) {
            (GamePredictor::Recurrent { memory: one, .. }, GamePredictor::Recurrent { memory: all, .. }) => {
                assert!(one == all, "{}: more was read than was told", family.name);
            }
            _ => panic!("{} forgot that it has a memory", family.name),
        }
    }
}
