//! Items of Semantic: which of four comments was written about a move.

use std::collections::HashSet;

use cwm_contract::Failure;
use cwm_game::StreamRng;
use cwm_random::Random;

use super::draft::blank;
use super::lexical::LexicalIndex;
use crate::comment::Comment;
use crate::item::Item;
use crate::{Distractors, Task};

/// Options of an item: the true one and the others.
const OPTIONS: usize = 4;

/// Makes the items of Semantic: `wanted` of each task, all about the first comments.
///
/// `embeddings` are a vector of length one for each comment; with them there are items of `semantic_embedding`, without them
/// of `semantic_lexical`. The other options are drawn from `seed`, the task and the item's number, so that a task's
/// items do not depend on which other tasks are wanted.
///
/// # Errors
///
/// There are fewer than four different comments, or the embeddings are not as many as the comments.
pub fn semantic(
    comments: &[Comment],
    embeddings: Option<&[Vec<f32>]>,
    seed: i128,
    wanted: impl Fn(Task) -> usize,
) -> Result<Vec<Item>, Failure> {
    let texts: HashSet<&str> = comments.iter().map(|comment| comment.cleaned.as_str()).collect();
    if texts.len() < OPTIONS {
        let message =
            format!("Semantic items have {OPTIONS} options, and there are {} different comments", texts.len());
        return Err(Failure::input(message).hint("give more annotated games, or leave the tasks out with `tasks`"));
    }
    if let Some(vectors) = embeddings.filter(|vectors| vectors.len() != comments.len()) {
        return Err(Failure::input(format!("there are {} embeddings of {} comments", vectors.len(), comments.len())));
    }
    let nearest = if embeddings.is_some() { Distractors::Embedding } else { Distractors::Lexical };
    let kinds = [Distractors::EasyRandom, Distractors::Keyword, Distractors::PieceStage, nearest];
    let mut source = Source { comments, embeddings, lexical: None };
    let mut items = Vec::new();
    for kind in kinds {
        let task = Task::Semantic(kind);
        let count = wanted(task).min(comments.len());
        if count > 0 && kind == Distractors::Lexical {
            source.lexical = Some(LexicalIndex::new(comments.iter().map(|comment| comment.cleaned.as_str())));
        }
        for at in 0..count {
            let mut draws = StreamRng::new(&format!("questions {task} options"), &seed.to_string(), at as u64);
            items.push(source.item(task, kind, at, &mut draws));
        }
    }
    Ok(items)
}

/// The comments that options are drawn from, with their embeddings or words.
struct Source<'c> {
    comments: &'c [Comment],
    embeddings: Option<&'c [Vec<f32>]>,
    lexical: Option<LexicalIndex>,
}

impl Source<'_> {
    /// The item about a comment, without its question.
    fn item(&self, task: Task, kind: Distractors, gold: usize, draws: &mut StreamRng) -> Item {
        let comment = &self.comments[gold];
        let mut options = vec![comment.cleaned.as_str()];
        let mut candidates = self.preferred(kind, gold, draws);
        candidates.extend(self.shuffled(gold, draws, |_| true));
        // A part of the comment says nothing else: it is an option only where there are too few others.
        let comments = self.comments;
        let texts = || candidates.iter().map(move |&at| comments[at].cleaned.as_str());
        for text in texts().filter(|text| !comment.cleaned.contains(*text)).chain(texts()) {
            if options.len() == OPTIONS {
                break;
            }
            if !options.contains(&text) {
                options.push(text);
            }
        }
        draws.shuffle(&mut options);
        let letter = ('A'..).zip(&options).find(|(_, text)| **text == comment.cleaned).map(|(letter, _)| letter);
        let mut item = blank(task, comment.fen_before.clone());
        item.task_id = format!("{task}_{gold:04}");
        item.correct_answer.extend(letter);
        let metadata = &mut item.metadata;
        metadata.insert("variant", task.name().trim_start_matches("semantic_"));
        metadata.insert("options", options);
        metadata.insert("correct_text", comment.cleaned.as_str());
        metadata.insert("fen_before", comment.fen_before.as_str());
        metadata.insert("fen_after", comment.fen_after.as_str());
        metadata.insert("move_uci", comment.move_uci.as_str());
        metadata.insert("move_number", comment.move_number);
        // After the move.
        metadata.insert("side_to_move", if comment.mover == "white" { "black" } else { "white" });
        item
    }

    /// The comments that a task prefers as other options, the most preferred first.
    fn preferred(&self, kind: Distractors, gold: usize, draws: &mut StreamRng) -> Vec<usize> {
        let own = &self.comments[gold];
        match kind {
            Distractors::EasyRandom => Vec::new(),
            Distractors::Keyword => {
                self.shuffled(gold, draws, |other| other.keywords.iter().any(|phrase| own.keywords.contains(phrase)))
            }
            Distractors::PieceStage => {
                let mut found =
                    self.shuffled(gold, draws, |other| (&other.piece, other.phase) == (&own.piece, own.phase));
                found.extend(self.shuffled(gold, draws, |other| other.piece == own.piece && other.phase != own.phase));
                found
            }
            Distractors::Embedding => self.embeddings.map_or_else(Vec::new, |vectors| {
                let near = |other: &Vec<f32>| {
                    vectors[gold].iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
                };
                descending(&vectors.iter().map(near).collect::<Vec<f64>>())
            }),
            Distractors::Lexical => {
                self.lexical.as_ref().map_or_else(Vec::new, |lexical| descending(&lexical.scores(&own.cleaned)))
            }
        }
    }

    /// The other comments that `fits`, shuffled.
    fn shuffled(&self, gold: usize, draws: &mut StreamRng, fits: impl Fn(&Comment) -> bool) -> Vec<usize> {
        let others = self.comments.iter().enumerate().filter(|(at, other)| *at != gold && fits(other));
        let mut found: Vec<usize> = others.map(|(at, _)| at).collect();
        draws.shuffle(&mut found);
        found
    }
}

/// The numbers of the highest scores first; of equal ones the first.
fn descending(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}
