//! A model whose logits an independent program computed.

use std::collections::BTreeMap;

use cwm_contract::testing::shared;
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::{Architecture, Network};
use safetensors::SafeTensors;
use serde_json::json;

use super::*;

fn golden(file: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(shared(&format!("systems/inside-models-golden/{file}"))?).unwrap())
}

fn floats(file: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    file.tensor(name).unwrap().data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// The fixture's model as a checkpoint of `learn`.
fn write_model(bench: &Bench, file: &SafeTensors<'_>) {
    let options = [("bias", "true"), ("gelu", "tanh"), ("tied", "true"), ("positions", "48"), ("heads", "2")];
    let architecture = Architecture {
        family: "gpt".to_owned(),
        size: "d32/l2".parse().unwrap(),
        vocabulary: 72,
        dropout: 0.0,
        options: BTreeMap::from(options.map(|(name, value)| (name.to_owned(), value.to_owned()))),
    };
    let network = Network::build(architecture.clone(), 72).unwrap();
    let mut weights = network.initial_weights(0);
    for (index, parameter) in network.layout().parameters().iter().enumerate() {
        weights.get_mut(index).copy_from_slice(&floats(file, &format!("param.{}", parameter.name)));
    }
    let vocabulary = json!({ "form": "words", "version": 1, "inputs": 72, "targets": 72, "longest": 48 });
    let description = Description {
        format: FORMAT,
        architecture,
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: serde_json::Map::from_iter([("vocabulary".to_owned(), vocabulary)]),
    };
    checkpoint::write(&bench.path("checkpoint"), &description, &weights).unwrap();
}

#[test]
fn losses_and_answers_are_those_of_golden_logits() {
    let Some(bytes) = golden("gpt2-tiny.safetensors") else { return };
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let moves: Vec<Vec<PlainMove>> = String::from_utf8(golden("tokens.jsonl").unwrap())
        .unwrap()
        .lines()
        .map(|line| {
            let game: serde_json::Value = serde_json::from_str(line).unwrap();
            cwm_policy::inputs::words::moves(&serde_json::from_value::<Vec<u16>>(game["ids"].clone()).unwrap()).unwrap()
        })
        .collect();
    // The fixture has games 0 and 5, of 44 and 25 words.
    let bench = Bench::new(&[moves[0].clone(), moves[5].clone()]);
    write_model(&bench, &file);
    let logits = floats(&file, "output.logits");
    let (of, rows) = read(&bench.run(&[("max_tokens", Value::Int(44))]));
    assert_eq!((of.model.as_str(), of.games, of.max_tokens), ("gpt d32/l2", 2, Some(44)));
    let ids: Vec<Vec<u16>> =
        moves.iter().map(|moves| cwm_policy::inputs::words::Words::of(moves.iter().copied()).ids).collect();
    let (mut compared, mut sum) = (0, 0.0);
    for row in &rows {
        let (game, token) = (row.game as usize, row.token as usize);
        if (game, token) >= (1, 25) {
            continue;
        }
        let logits = &logits[(game * 44 + token) * 72..][..72];
        let wide: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
        let next = ids[[0, 5][game]].get(token + 1).copied().unwrap_or(1);
        let lse = wide.iter().map(|logit| logit.exp()).sum::<f64>().ln();
        assert!((row.loss - (lse - wide[usize::from(next)])).abs() < 1e-4, "{row:?}");
        let best = (0..72).max_by(|&one, &other| wide[one].total_cmp(&wide[other])).unwrap();
        assert_eq!(row.right, best == usize::from(next), "{row:?}");
        // The fixture's target behind the last word of each game is the begin word.
        let is_last = token + 1 == [44, 25][game];
        sum += lse - wide[if is_last { 1 } else { usize::from(next) }];
        compared += 1;
    }
    assert_eq!(compared, 69);
    assert!((sum / 69.0 - f64::from(floats(&file, "output.loss")[0])).abs() < 1e-5, "{sum}");
}
