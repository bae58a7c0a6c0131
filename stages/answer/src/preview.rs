//! What a run would ask, and what it would cost at least.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};

use cwm_answers::AnswersReader;
use cwm_contract::{Context, Failure};

use crate::config::Config;
use crate::entry::Entry;
use crate::question::{Digest, Question};
use crate::run::{JOURNAL, items, questions};
use crate::server::Requests;
use crate::server::spending::{self, Prices};

/// The questions to a server that have no answer yet, with the length of their prompts; none of other players.
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
    let answered = answered(context, &questions)?;
    let open = || questions.iter().filter(|question| !answered.contains(&identity(question)));
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

/// What no other question has: two items may have one and the same prompt.
fn identity(question: &Question) -> (String, Digest) {
    (question.task_id.clone(), question.request)
}

/// The questions that an interrupted run or the input `known` answered.
fn answered(context: &Context, questions: &[Question]) -> Result<HashSet<(String, Digest)>, Failure> {
    let mut known: HashSet<Digest> = HashSet::new();
    for input in context.group("known") {
        for answer in AnswersReader::open(&input.path)? {
            let answer = answer?;
            known.extend(answer.request.filter(|_| answer.response.is_some() && answer.fault.is_none()));
        }
    }
    let of_known = questions.iter().filter(|question| known.contains(&question.request));
    let mut answered: HashSet<_> = of_known.map(identity).collect();
    let journal = context.checkpoint_dir().join(JOURNAL);
    if journal.exists() {
        let of_journal = |line: Result<String, _>| {
            let entry: Entry = serde_json::from_str(&line.ok()?).ok()?;
            entry.fault.is_none().then_some((entry.task_id, entry.request))
        };
        let lines = BufReader::new(fs_err::File::open(journal)?).lines();
        let there: HashSet<_> = questions.iter().map(identity).collect();
        answered.extend(lines.filter_map(of_journal).filter(|one| there.contains(one)));
    }
    Ok(answered)
}
