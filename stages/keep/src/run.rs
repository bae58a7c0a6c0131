//! The run of `keep`.

use cwm_contract::{Context, Failure};
use cwm_questions::{UnknownTasks, read_item_files};

use crate::config::Config;
use crate::{balance, output, passed};

/// Reads `items`, `answers` and `grades`, and writes `examples` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    context.activity("reading items");
    let files = context.group("items").iter().map(|input| (input.label.to_string(), &*input.path));
    let items = read_item_files(files, UnknownTasks::Fail)?;
    context.activity("reading answers");
    let mut read = passed::read(context, &config, &items)?;
    let not_drawn = balance::balance(&config, &mut read)?;
    output::write(context, &config, read, not_drawn)
}
