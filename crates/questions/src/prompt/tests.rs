use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::*;
use crate::truth::Keys;
use crate::{Form, Task, golden};

/// A line of golden `prompts.jsonl`.
#[derive(Deserialize)]
struct Expected {
    task_id: String,
    variant: String,
    characters: usize,
    sha256: String,
    text: Option<String>,
}

fn variants() -> impl Iterator<Item = Variant> {
    let contexts = [PromptContext::None, PromptContext::Pieces, PromptContext::PiecesMoves];
    contexts.into_iter().flat_map(|context| [false, true].map(|second_example| Variant { context, second_example }))
}

#[test]
fn prompts_of_published_items_are_golden() {
    let (Some(published), Some(expected)) = (golden::published(), golden::lines::<Expected>("prompts.jsonl")) else {
        return;
    };
    let wording = Wording::of_items(&published).unwrap();
    assert_eq!(expected.len(), 368);
    for Expected { task_id, variant, characters, sha256, text } in expected {
        let variant = match variant.as_str() {
            "base" => Variant::default(),
            "delta_example" => Variant { second_example: true, ..Variant::default() },
            "piece_arr" => Variant { context: PromptContext::PiecesMoves, second_example: false },
            "both" => Variant { context: PromptContext::PiecesMoves, second_example: true },
            other => panic!("{other}"),
        };
        let mut item = published.iter().find(|item| item.task_id == task_id).unwrap().clone();
        wording.set_question(&mut item).unwrap();
        let prompt = prompt(&item, variant).unwrap();
        if let Some(text) = text {
            assert_eq!(prompt, text, "{task_id}");
        }
        assert_eq!(prompt.chars().count(), characters, "{task_id}");
        let digest: String = Sha256::digest(&prompt).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, sha256, "{task_id}");
    }
}

#[test]
fn the_wording_of_the_first_item_of_a_task_gives_the_question_of_all_others() {
    let Some(published) = golden::published() else { return };
    let wording = Wording::of_items(&published).unwrap();
    for item in &published {
        let mut asked = Item { question: String::new(), format_examples: Vec::new(), ..item.clone() };
        wording.set_question(&mut asked).unwrap();
        assert_eq!(&asked, item);
    }
}

#[test]
fn our_own_prompts_are_filled_end_as_they_must_and_do_not_give_the_key() {
    let Some(published) = golden::published() else { return };
    for keys in [Keys::Published, Keys::Sound] {
        let wording = Wording::own(keys);
        for item in &published {
            let mut item = item.clone();
            wording.set_question(&mut item).unwrap();
            let form = item.task().unwrap().form();
            for variant in variants() {
                let prompt = prompt(&item, variant).unwrap();
                assert!(!prompt.contains("PLACEHOLDER") && !prompt.contains('{'), "{prompt}");
                assert!(prompt.contains("\nFINAL ANSWER: <answer>\n"), "{prompt}");
                assert!(prompt.contains(&item.format_examples[usize::from(variant.second_example)]));
                let given = form == Form::Centipawns || variant.context != PromptContext::None;
                let rest = prompt.replace(&item.input, "");
                assert!(given || !rest.contains(&item.correct_answer), "{}: {prompt}", item.correct_answer);
            }
        }
    }
}

#[test]
fn our_own_prompts_say_what_check_and_pin_leave_of_a_pieces_squares() {
    let Some(published) = golden::published() else { return };
    let question = |keys, task_type: &str| {
        let mut item = published.iter().find(|item| item.task_type == task_type).unwrap().clone();
        Wording::own(keys).set_question(&mut item).unwrap();
        item.question
    };
    for task_type in ["structural_capture_squares", "structural_control_squares", "structural_protect_squares"] {
        let (sound, published) = (question(Keys::Sound, task_type), question(Keys::Published, task_type));
        assert_eq!(sound.contains("only moves that end the check"), !task_type.contains("protect"), "{sound}");
        assert!(published.contains("none, unless it stands beside that king"), "{published}");
    }
}

#[test]
fn each_task_has_a_question_of_ours() {
    let wording = Wording::own(Keys::Sound);
    assert!(Task::all().all(|task| wording.has(task)));
}
