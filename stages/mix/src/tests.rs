use std::path::{Path, PathBuf};

use cwm_contract::testing::{self, Outcome, Trial};
use cwm_contract::{Event, Label, Value, Values};
use cwm_reasoning::{Example, Mixture, read_examples};
use tempfile::tempdir;

use crate::Mix;

/// Writes examples with so many words each.
fn source(path: &Path, words: &[u64]) -> PathBuf {
    let line = |(number, words): (usize, &u64)| {
        let target = vec!["e2e4"; *words as usize].join(" ");
        format!(
            "{{\"id\": \"x-{number:06}\", \"messages\": [{{\"role\": \"assistant\", \"content\": \"{target}\"}}], \"meta\": {{}}}}\n"
        )
    };
    std::fs::write(path, words.iter().enumerate().map(line).collect::<String>()).unwrap();
    path.to_owned()
}

fn weights(of: &[(&str, f64)]) -> Value {
    Value::Map(of.iter().map(|(name, weight)| ((*name).to_owned(), Value::Float(*weight))).collect())
}

/// A trial with these sources, by label.
fn trial(folder: &Path, sources: &[(&str, &[u64])]) -> Trial {
    std::fs::create_dir_all(folder).unwrap();
    let given = |trial: Trial, (number, (label, words)): (usize, &(&str, &[u64]))| {
        let path = source(&folder.join(format!("{number}.jsonl")), words);
        trial.labelled("examples", label.parse().unwrap(), path)
    };
    sources.iter().enumerate().fold(Trial::new(folder.join("work")), given)
}

fn mixture(outcome: &Outcome) -> Mixture {
    serde_json::from_slice(&std::fs::read(&outcome.outputs["mixture"]).unwrap()).unwrap()
}

fn examples(outcome: &Outcome) -> Vec<Example> {
    read_examples(&*std::fs::read(&outcome.outputs["examples"]).unwrap(), "mixed").unwrap()
}

fn notes(outcome: &Outcome) -> Vec<&str> {
    outcome.events.iter().filter_map(|event| if let Event::Note(note) = event { Some(&**note) } else { None }).collect()
}

#[test]
fn sources_have_their_shares_and_ids_of_their_own() {
    let folder = tempdir().unwrap();
    let sources: [(&str, &[u64]); 3] = [("built[builder=best_move]", &[1; 90]), ("kept", &[3; 90]), ("unused", &[1])];
    let named = weights(&[("built[ builder = best_move ]", 1.), ("kept", 3.)]);
    let outcome =
        trial(folder.path(), &sources).with("weights", named).with("tokens", Value::Int(120)).run(&Mix).unwrap();
    let mixture = mixture(&outcome);
    let taken: Vec<_> =
        mixture.sources.iter().map(|source| (&*source.source, source.examples, source.tokens)).collect();
    assert_eq!(taken, [("built[builder=best_move]", 30, 30), ("kept", 30, 90), ("unused", 0, 0)]);
    assert_eq!((mixture.tokens, mixture.budget), (120, 120));
    let mixed = examples(&outcome);
    assert_eq!(mixed.len(), 60);
    let ids: Vec<&str> = mixed.iter().map(|example| &*example.id).collect();
    assert!(ids.iter().all(|id| id.starts_with("kept/x-") || id.starts_with("built[builder=best_move]/x-")), "{ids:?}");
    // They are shuffled: neither apart by source, nor in turn.
    let of_kept: Vec<bool> = mixed.iter().map(|example| example.id.starts_with("kept/")).collect();
    let changes = of_kept.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((15..45).contains(&changes), "{changes}");
    assert_eq!(notes(&outcome), [""; 0]);
}

#[test]
fn a_source_that_ends_the_mix_is_named_with_the_shares() {
    let folder = tempdir().unwrap();
    let sources: [(&str, &[u64]); 2] = [("few", &[1, 1]), ("many", &[1; 50])];
    let named = weights(&[("few", 1.), ("many", 1.)]);
    let outcome =
        trial(folder.path(), &sources).with("weights", named).with("tokens", Value::Int(100)).run(&Mix).unwrap();
    assert_eq!(notes(&outcome), ["3 of 100 tokens: few has no more examples; the shares are few 66.7 %, many 33.3 %"]);
}

#[test]
fn what_cannot_be_mixed_is_an_error_in_words() {
    let folder = tempdir().unwrap();
    let run = |named: &[(&str, f64)], tokens| {
        let sources: [(&str, &[u64]); 2] = [("a", &[5]), ("b", &[])];
        let trial = trial(folder.path(), &sources).with("weights", weights(named)).with("tokens", Value::Int(tokens));
        trial.run(&Mix).err().unwrap()
    };
    assert_eq!(run(&[("a", 0.)], 9).message, "parameter `weights` has no weight above 0");
    let fault = "parameter `weights` has the weight -1 of `a`: a weight is a number from 0 on";
    assert_eq!(run(&[("a", -1.), ("b", 1.)], 9).message, fault);
    assert_eq!(run(&[("a[", 1.)], 9).message, "parameter `weights` has `a[` lacks its closing bracket");
    assert_eq!(run(&[("a", 1.), ("b", 1.)], 9).message, "b has no examples");
    assert_eq!(run(&[("a", 1.)], 4).message, "the first example has more than 4 tokens");
    let empty: [(&str, &[u64]); 1] = [("a", &[0, 0])];
    let trial = trial(folder.path(), &empty).with("weights", weights(&[("a", 1.)]));
    let failure = trial.with("tokens", Value::Int(1)).run(&Mix).err().unwrap();
    assert_eq!(failure.message, "the assistant's texts have no tokens");
    std::fs::write(folder.path().join("bad.jsonl"), "{\"id\": 1}\n").unwrap();
    let trial =
        Trial::new(folder.path().join("work")).labelled("examples", Label::stage("a"), folder.path().join("bad.jsonl"));
    let failure = trial.with("weights", weights(&[("a", 1.)])).with("tokens", Value::Int(1)).run(&Mix).err().unwrap();
    assert!(failure.message.starts_with("a, line 1: not an example: "), "{}", failure.message);
}

/// A tokenizer that parts words from signs, adds `[CLS]` before a text, and cuts it after three tokens.
const TOKENIZER: &str = r#"{
    "version": "1.0", "added_tokens": [],
    "truncation": {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
    "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
    "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 2]},
    "model": {"type": "WordLevel", "vocab": {"[PAD]": 0, "[SEP]": 1, "[CLS]": 2, "[UNK]": 3, "e2e4": 4, ",": 5}, "unk_token": "[UNK]"}
}"#;

#[test]
fn a_models_tokenizer_counts_tokens() {
    let folder = tempdir().unwrap();
    let (examples, tokenizer) = (folder.path().join("a.jsonl"), folder.path().join("tokenizer.json"));
    let message = r#"{"role": "assistant", "content": "e2e4, e7e5, g1f3!"}"#;
    let line = |number| format!("{{\"id\": \"x{number}\", \"messages\": [{message}], \"meta\": {{}}}}\n");
    std::fs::write(&examples, (0..4).map(line).collect::<String>()).unwrap();
    std::fs::write(&tokenizer, TOKENIZER).unwrap();
    let trial = |tokenizer: &Path, tokens: i128| {
        let trial = Trial::new(folder.path().join("work")).labelled("examples", Label::stage("a"), examples.clone());
        let trial = trial.with("weights", weights(&[("a", 1.)])).with("tokens", Value::Int(tokens));
        trial.with("tokenizer", Value::Text(tokenizer.to_str().unwrap().to_owned()))
    };
    // Six tokens an example, of which the words would be three.
    let outcome = trial(&tokenizer, 13).run(&Mix).unwrap();
    assert_eq!((mixture(&outcome).tokens, mixture(&outcome).sources[0].examples), (12, 2));
    std::fs::write(&tokenizer, "{\"model\": 1}").unwrap();
    let failure = trial(&tokenizer, 13).run(&Mix).err().unwrap();
    assert!(failure.message.starts_with(&format!("{} is not a tokenizer: ", tokenizer.display())), "{failure:?}");
    assert_eq!(failure.hint.unwrap(), "`tokenizer` names the `tokenizer.json` beside a model's weights");
}

#[test]
fn the_probe_is_the_same_twice() {
    let folders = [tempdir().unwrap(), tempdir().unwrap()];
    let values = || {
        Values::from([
            ("weights".to_owned(), weights(&[("a[x=1]", 1.), ("b", 0.)])),
            ("tokens".to_owned(), Value::Int(9_000)),
        ])
    };
    let [one, two] = folders.each_ref().map(|folder| testing::probe(&Mix, values(), folder.path()).unwrap().unwrap());
    assert!(one.contains_key("run/mixture") && one == two, "{:?}", one.keys());
}
