//! Against comments that an independent program collected.

use cwm_contract::Value;
use cwm_contract::testing::{Trial, shared};
use serde_json::Value as Json;

use super::{counts, text};
use crate::Comments;
use crate::comment_filter::count_words;

#[test]
fn the_golden_comments_are_kept_and_cleaned() {
    let Some(golden) = shared("systems/questions-golden") else { return };
    let [pgn, keywords, expected] =
        ["commentary.pgn", "keywords.txt", "comments-expected.jsonl"].map(|name| golden.join(name));
    let folder = tempfile::tempdir().unwrap();
    let keywords = Value::Text(keywords.to_string_lossy().into_owned());
    let outcome = Trial::new(folder.path()).with("keywords", keywords).input("pgn", pgn).run(&Comments).unwrap();
    let expected = std::fs::read_to_string(expected).unwrap();
    let expected: Vec<Json> = expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for comment in &expected {
        assert_eq!(count_words(comment["comment"].as_str().unwrap()), comment["words"].as_u64().unwrap());
    }
    let kept: Vec<Json> = expected.iter().filter(|comment| comment["kept"] == true).cloned().collect();
    let ours: Vec<Json> = text(&outcome, "comments").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ours.len(), kept.len());
    for (mut ours, mut kept) in ours.into_iter().zip(kept) {
        for name in ["words", "kept"] {
            kept.as_object_mut().unwrap().remove(name);
        }
        assert_eq!(ours.as_object_mut().unwrap().remove("cleaned_by"), Some("rules".into()));
        assert_eq!(ours, kept);
    }
    let counts = counts(&outcome);
    assert_eq!((counts["games"].as_u64(), counts["comments"].as_u64()), (Some(3), Some(expected.len() as u64)));
    assert_eq!(text(&outcome, "items").lines().count(), 2 * counts["kept"].as_u64().unwrap() as usize);
}
