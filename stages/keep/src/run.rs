//! The run of `keep`.

use cwm_contract::{Context, Failure};
use cwm_questions::{UnknownTasks, read_item_files};

use crate::config::Config;
use crate::{answers, balance, output};

/// Reads `items`, `answers` and `grades`, and writes `examples` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    context.activity("reading items");
    let files = context.group("items").iter().map(|input| (input.label.to_string(), &*input.path));
    let items = read_item_files(files, UnknownTasks::Fail)?;
    context.activity("reading answers");
    let mut found = answers::read(context, &config, &items)?;
    let not_drawn = balance::balance(&config, &mut found)?;
    output::write(context, &config, found, not_drawn)
}
