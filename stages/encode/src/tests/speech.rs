//! The form `speech`: examples as rows in the small language.

use cwm_sequences::NO_LOSS;
use cwm_speech::{COUNT, END, PositionForm, name, text};

use super::*;

/// King and pawn against king.
const FEN: &str = "8/4P3/8/8/8/2k5/8/K7 w - - 0 1";

fn line(id: &str, answer: &str) -> String {
    format!(
        r#"{{"id":"{id}","messages":[{{"role":"system","content":"s"}},{{"role":"user","content":"u"}},{{"role":"assistant","content":"{answer}"}}],"meta":{{"builder":"best_move","fen":"{FEN}"}}}}"#
    ) + "\n"
}

fn bench(lines: &[String]) -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("examples"), lines.concat()).unwrap();
    bench
}

fn speech(position: &str, max_tokens: i128) -> Values {
    let mut values = values("speech");
    values.insert("position".to_owned(), Value::Text(position.to_owned()));
    values.insert("max_tokens".to_owned(), Value::Int(max_tokens));
    values
}

#[test]
fn the_words_of_the_answer_and_the_end_are_targets() {
    let inputs = bench(&[line("a", "e7e8q"), line("b", "a1b1")]);
    let outcome = inputs.run_with(speech("pieces", 512), 2).unwrap();
    let found = rows(&outcome);
    assert_eq!(found.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let (_, tokens, targets) = &found[0];
    let names: Vec<String> = tokens.iter().map(|&word| name(word)).collect();
    assert_eq!(names.join(" "), "K a1 k c3 P e7 white castling:- ep:- best_move e7 e8 =q");
    assert_eq!(targets[..9], [NO_LOSS; 9]);
    assert_eq!((text(&targets[9..]), targets[12]), ("e7e8q".to_owned(), END));
    assert_eq!(
        counts(&outcome),
        "{\"cut\":0,\"dropped\":{\"too_long\":0},\"form\":\"speech\",\"rows\":2,\"stage\":\"encode\",\"targets\":7,\"tokens\":25}\n"
    );
    let on = |cores| bytes(&inputs.run_with(speech("pieces", 512), cores).unwrap().outputs["sequences"]);
    assert!(on(1) == on(2));
    let inputs = bench(&[line("a", "e7e8q")]);
    let squares = inputs.run_with(speech("squares", 512), 1).unwrap();
    assert_eq!(rows(&squares)[0].1.len(), 67 + 4);
}

#[test]
fn the_vocabulary_is_that_of_the_small_language() {
    for form in PositionForm::ALL {
        let inputs = bench(&[line("a", "e7e8q")]);
        let outcome = inputs.run_with(speech(form.name(), 90), 1).unwrap();
        assert_eq!(vocabulary(&outcome), form.vocabulary(90));
        assert_eq!(vocabulary(&outcome).inputs, COUNT);
    }
}

#[test]
fn long_examples_are_dropped_and_counted() {
    let inputs = bench(&[line("a", "e7e8q"), line("b", "a1b1")]);
    let outcome = inputs.run_with(speech("pieces", 12), 1).unwrap();
    assert_eq!(rows(&outcome).len(), 1);
    assert!(counts(&outcome).contains("\"too_long\":1"), "{}", counts(&outcome));
}

#[test]
fn what_cannot_be_encoded_is_named() {
    let refused = |lines: &[String]| bench(lines).run_with(speech("pieces", 512), 2).err().unwrap().message;
    assert_eq!(
        refused(&[line("a", "e7e8q"), line("b", "Push!")]),
        "the example b: the small language has no words for \"Push!\" of the answer \"Push!\""
    );
    assert!(refused(&[line("a", "e7e8q"), "{}".to_owned()]).starts_with("the examples, line 2: not an example"));
    assert_eq!(
        bench(&[line("a", "e7e8q")]).refused("words"),
        "encode needs an input `games`, which the form `words` reads"
    );
}
