//! Items about comments.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{ArrayRef, ListArray, RecordBatch, UInt32Array};
use cwm_contract::{Stage, Value};
use parquet::arrow::ArrowWriter;
use tempfile::TempDir;

use super::{counts, items, run, tasks};
use crate::Questions;
use crate::probe::comments as some_comments;

fn comments(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("comments.jsonl");
    std::fs::write(&path, some_comments()).unwrap();
    path
}

/// An infinite number is written as missing.
fn embeddings(folder: &TempDir, vectors: &[(u32, Vec<f32>)]) -> PathBuf {
    let path = folder.path().join("embeddings.parquet");
    let numbers: ArrayRef = Arc::new(UInt32Array::from_iter_values(vectors.iter().map(|(number, _)| *number)));
    let lists = vectors.iter().map(|(_, vector)| {
        Some(vector.iter().map(|value| Some(*value).filter(|value| !value.is_infinite())).collect::<Vec<_>>())
    });
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists));
    let batch = RecordBatch::try_from_iter([("vector", lists), ("comment", numbers)]).unwrap();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

#[test]
fn comments_alone_give_four_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let comments = comments(&folder);
    let outcome = run(&folder, &[("comments", &comments)], &[("per_task", Value::Int(4))]).unwrap();
    let found = items(&outcome);
    let names: Vec<_> = found.iter().map(|item| item.task_id.as_str()).collect();
    assert_eq!(names.len(), 16);
    assert_eq!((names[0], names[15]), ("semantic_easy_random_0000", "semantic_lexical_0003"));
    for item in &found {
        let options = item.metadata.get("options").unwrap().as_array().unwrap();
        assert!(options.iter().all(|option| item.question.contains(option.as_str().unwrap())), "{}", item.question);
    }
    let counts = counts(&outcome);
    assert_eq!((&counts["sources"]["comments"]["read"], &counts["tasks"]["semantic_keyword"]), (&6.into(), &4.into()));
}

#[test]
fn embeddings_take_the_place_of_words() {
    let folder = tempfile::tempdir().unwrap();
    let comments = comments(&folder);
    let vectors: Vec<_> = (0..6).rev().map(|at| (at, vec![(at as f32 / 4.0).cos(), (at as f32 / 4.0).sin()])).collect();
    let with = |vectors: &[(u32, Vec<f32>)]| {
        let embeddings = embeddings(&folder, vectors);
        let inputs: [(&str, &Path); 2] = [("comments", &comments), ("embeddings", &embeddings)];
        run(&folder, &inputs, &[("tasks", tasks(&["semantic_*"])), ("per_task", Value::Int(1))])
    };
    let found = items(&with(&vectors).unwrap());
    let last = found.last().unwrap();
    assert_eq!((found.len(), last.task_id.as_str()), (4, "semantic_embedding_0000"));
    let all: Vec<cwm_questions::Comment> =
        some_comments().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let options = last.metadata.get("options").unwrap().as_array().unwrap();
    assert!(all[..4].iter().all(|comment| options.contains(&comment.cleaned.as_str().into())), "{options:?}");
    let wrong = |vectors: &[(u32, Vec<f32>)]| with(vectors).map(|_| ()).unwrap_err().message;
    assert!(wrong(&vectors[1..]).contains("no vector of comment 5"));
    assert!(wrong(&[vectors.clone(), vec![(6, vec![1.0, 0.0])]].concat()).contains("of a comment 6, and there are 6"));
    assert!(wrong(&[vectors.clone(), vec![(3, vec![1.0, 0.0])]].concat()).contains("two vectors of comment 3"));
    let changed = |vector: &[f32]| {
        let mut vectors = vectors.clone();
        vectors[3].1 = vector.to_vec();
        with(&vectors).map(|_| ()).unwrap_err()
    };
    for (vector, length) in [(&[0.6, 0.82], "1.016"), (&[0.5, 0.5], "0.707"), (&[f32::NAN, 1.0], "NaN")] {
        let failure = changed(vector);
        assert!(
            failure.message.ends_with(&format!("have a vector of comment 2 of length {length}, and not one")),
            "{failure:?}"
        );
        assert_eq!(failure.hint.as_deref(), Some("divide each vector by its length"));
    }
    assert!(
        changed(&[1.0, f32::INFINITY]).message.ends_with("have a vector of comment 2 in which a number is missing")
    );
    let inputs = Questions.check_inputs(&["puzzles", "embeddings"]);
    assert_eq!(inputs.as_deref(), Some("has embeddings of no comments: it needs an input `comments`"));
}
