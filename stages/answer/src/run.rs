//! The run of `answer`.

use std::collections::HashMap;

use cwm_contract::{Context, Failure};
use cwm_journal::Journal;
use cwm_questions::prompt::prompt;
use cwm_questions::{Item, UnknownTasks, read_item_files};
use cwm_web::Settings;

use crate::config::Config;
use crate::entry::Entry;
use crate::players::{self, Player};
use crate::question::{Prompt, Question, QuestionHash};
use crate::server::{self, Requests};
use crate::{earlier_answers, output};

/// The file of answers in the folder of checkpoints.
pub const JOURNAL: &str = "answers.jsonl";

/// Gets the answers to all items, and writes `answers`. `settings` are the waits between attempts.
pub fn run(context: &Context, settings: &Settings) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let items = items(context)?;
    if config.is_server() {
        let requests = Requests::new(&config)?;
        let questions = questions(&config, &requests, &items)?;
        let (journal, spent) = open_journal(context, &questions)?;
        let taken = earlier_answers::take(context, &questions, &journal)?;
        let asked = journal.missing().len();
        server::send_questions(context, &config, settings, requests, &questions, (&journal, spent))?;
        context.metric("asked", asked as f64);
        context.metric("known", taken as f64);
        output::write(context, &config, &journal)
    } else {
        let player = Player::new(context, &config, &items)?;
        let identity = player.identity()?;
        let questions = Question::all(&items, config.samples, |item, text| {
            text.extend_from_slice(format!("{identity} ").as_bytes());
            serde_json::to_writer(text, item).map_err(|error| Failure::internal(error.to_string()))?;
            Ok::<_, Failure>(Prompt::default())
        })?;
        let (journal, _) = open_journal(context, &questions)?;
        players::answer(context, &player, &items, &questions, &journal)?;
        output::write(context, &config, &journal)
    }
}

/// The questions to a server about items.
///
/// # Errors
/// An item has no prompt.
pub fn questions(config: &Config, requests: &Requests, items: &[Item]) -> Result<Vec<Question>, Failure> {
    Question::all(items, config.samples, |item, identity| {
        let prompt = Prompt::new(item, prompt(item, config.variant())?);
        identity.extend_from_slice(requests.identity(&prompt).as_bytes());
        Ok(prompt)
    })
}

/// Opens the journal of the answers, and returns the dollars that an earlier run cost, as far as that is known.
/// Questions without an answer are sent again, but their cost counts.
fn open_journal(context: &Context, questions: &[Question]) -> Result<(Journal<Entry>, f64), Failure> {
    let numbers: HashMap<(&str, QuestionHash), usize> =
        questions.iter().enumerate().map(|(number, one)| ((&*one.task_id, one.request), number)).collect();
    let mut spent = 0.0;
    let number_of = |entry: &Entry| {
        let number = numbers.get(&(&*entry.task_id, entry.request)).copied()?;
        spent += entry.spent;
        entry.fault.is_none().then_some(number)
    };
    let journal = Journal::open(context.checkpoint_dir().join(JOURNAL), questions.len(), number_of)?;
    Ok((journal, spent))
}

/// The items of all files, in order.
///
/// # Errors
/// A file is not one of items, or there is none.
pub fn items(context: &Context) -> Result<Vec<Item>, Failure> {
    let files = context.group("items").iter().map(|input| (input.label.to_string(), input.path.as_path()));
    let items = read_item_files(files, UnknownTasks::Keep)?;
    if items.is_empty() {
        return Err(Failure::input("there is no item to ask about"));
    }
    Ok(items)
}
