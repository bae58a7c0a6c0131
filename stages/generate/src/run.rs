//! The run of `generate`.

use cwm_contract::{Context, Failure};
use cwm_game::StreamRng;
use cwm_generation::{Checkpoint, Model, sample};
use cwm_models::{Device, device};
use cwm_questions::{Item, UnknownTasks, read_item_files};
use cwm_speech::{PositionForm, item_words};

use crate::config::Config;
use crate::output::{self, OutputWriter};

/// Items that are answered between two checks for cancellation.
const WINDOW: usize = 512;

/// Reads `checkpoint` and `items`, and writes `answers`.
pub fn run(context: &Context) -> Result<(), Failure> {
    device::run(context, |device| generate(context, device))
}

fn generate(context: &Context, device: &Device) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let Checkpoint { words: form, description, network, weights } =
        Checkpoint::read(context.input("checkpoint")?, PositionForm::of)?;
    let items = items(context)?;
    let prompts = items.iter().map(|item| prompt(item, form)).collect::<Result<Vec<_>, _>>()?;
    let (workers, sampling) = (device::workers(context, device)?, config.sampling());
    let model = Model::new(&network, &weights, device);
    let seed = config.seed.to_string();
    let mut output = OutputWriter::create(context, &output::run(&config, &description))?;
    context.activity("answering");
    for (window, prompts) in prompts.chunks(WINDOW).enumerate() {
        context.check_cancelled()?;
        let first = window * WINDOW;
        // An answer does not depend on how many there are to its item.
        let stream = |prompt: usize, number: usize| {
            StreamRng::new("generate", &seed, ((number as u64) << 32) | (first + prompt) as u64)
        };
        let answers = sample(&model, &workers, prompts, config.samples as usize, &sampling, &stream)?;
        for (place, answers) in answers.iter().enumerate() {
            for (number, answer) in answers.iter().enumerate() {
                output.push(&items[first + place], number, prompts[place].len(), answer)?;
            }
        }
        context.progress((first + prompts.len()) as u64, Some(items.len() as u64), "items");
    }
    output.finish(context)
}

/// The items of all files, in order.
fn items(context: &Context) -> Result<Vec<Item>, Failure> {
    let files = context.group("items").iter().map(|input| (input.label.to_string(), input.path.as_path()));
    let items = read_item_files(files, UnknownTasks::Keep)?;
    if items.is_empty() {
        return Err(Failure::input("there is no item to answer"));
    }
    Ok(items)
}

fn prompt(item: &Item, form: PositionForm) -> Result<Vec<u16>, Failure> {
    item_words(item, form).map_err(|wrong| {
        let hint = "`generate` answers items of the tasks `reasoning_…`; `answer` asks language models about any";
        Failure::input(format!("the item {}: {wrong}", item.task_id)).hint(hint)
    })
}
