//! The preview of a run: the questions that it would send, and the least that they would cost.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};

use cwm_answers::AnswersReader;
use cwm_contract::{Context, Failure};

use crate::config::Config;
use crate::earlier_answers::request_of;
use crate::entry::Entry;
use crate::question::{Question, QuestionHash};
use crate::run::{JOURNAL, items, questions};
use crate::server::Requests;
use crate::server::spending::{self, Prices};

/// Counts the questions to a server that have no answer yet, and the length of their prompts; none of other players.
///
/// # Errors
/// Items or known answers cannot be read.
pub fn preview(context: &Context) -> Result<Option<String>, Failure> {
    let config: Config = context.parameters()?;
    if !config.is_server() {
        return Ok(None);
    }
    let (requests, items) = (Requests::new(&config)?, items(context)?);
    let questions = questions(&config, &requests, &items)?;
    let (known, kept) = (known(context)?, kept(context)?);
    let is_answered = |question: &Question| {
        known.contains(&question.request) || kept.contains(&(question.task_id.clone(), question.request))
    };
    let open = || questions.iter().filter(|question| !is_answered(question));
    let characters: usize = open().map(|question| question.prompt.characters()).sum();
    let tokens = spending::tokens_of(characters);
    let (asked, all) = (open().count(), questions.len());
    if asked == 0 {
        return Ok(Some(format!("asks no question: all {all} have answers")));
    }
    let mut text = format!("asks {asked} question{}", if asked == 1 { "" } else { "s" });
    if asked < all {
        text += &format!(", the other {} have answers", all - asked);
    }
    text += &format!("; prompts of {characters} characters, about {tokens:.0} tokens");
    if let Some(prices) = Prices::of_parameter(&config.prices) {
        text += &format!(": ${:.2}, and answers cost more", prices.dollars(tokens, 0.0));
    }
    Ok(Some(text))
}

/// The requests that the input `known` answers.
fn known(context: &Context) -> Result<HashSet<QuestionHash>, Failure> {
    let mut known = HashSet::new();
    for input in context.group("known") {
        for answer in AnswersReader::open(&input.path)? {
            known.extend(request_of(&answer?));
        }
    }
    Ok(known)
}

/// The items and requests that an interrupted run answered. Two items may have the same request.
fn kept(context: &Context) -> Result<HashSet<(String, QuestionHash)>, Failure> {
    let journal = context.checkpoint_dir().join(JOURNAL);
    if !journal.exists() {
        return Ok(HashSet::new());
    }
    let answered = |line: Result<String, _>| {
        let entry: Entry = serde_json::from_str(&line.ok()?).ok()?;
        entry.fault.is_none().then_some((entry.task_id, entry.request))
    };
    Ok(BufReader::new(fs_err::File::open(journal)?).lines().filter_map(answered).collect())
}
