//! Keeps the rows, and compares them.

use cwm_contract::{Context, Failure};
use cwm_inside::{Collection, Model, RowsWriter, collect};
use cwm_models::Device;
use cwm_models::device;
use cwm_models::worker_pool::WorkerPool;

use crate::config::Config;
use crate::measure::AlignmentRun;
use crate::members::Members;

/// Runs the stage.
///
/// # Errors
/// An input or parameter is not what it should be, an operation on the disk fails, or the stage was cancelled.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    device::run(context, |device| on_device(context, &config, device))
}

fn on_device(context: &Context, config: &Config, device: &Device) -> Result<(), Failure> {
    let model = Model::open(context.input("checkpoint")?, config.weights_source(), device)?;
    let model = model.with_precision(config.precision())?;
    model.check_family(config.family.as_deref())?;
    if !model.network().is_causal() {
        let message =
            format!("{} reads what comes after a position too, so its rows are not of sequences", model.name());
        return Err(Failure::input(message));
    }
    let sites = model.checked_sites(&config.layers, "layers")?;
    let mut members = Members::read(context, &model)?;
    if members.dropped > 0 {
        let dropped = members.dropped;
        context.note(format!("{dropped} sequences are longer than the model reads or then alone, and dropped"));
    }
    let workers = device::workers(context, device)?;
    let collection =
        Collection { sites: sites.clone(), normed: config.normed, batch_tokens: config.batch_tokens as usize };
    context.activity("computing rows");
    let mut writer = RowsWriter::create(context.temporary(), "rows", sites.len(), model.width())?;
    let games = members.wanted.iter().cloned().map(Ok);
    collect(context, &model, &workers, &collection, games, &mut writer)?;
    let rows = writer.finish()?;
    // What is left of them is their names, for errors.
    members.wanted.iter_mut().for_each(|game| game.reading = cwm_inside::TokenizedGame::default());
    let workers = WorkerPool::new(context.cores())?;
    let alignment = AlignmentRun { context, config, model: &model, members: &members, workers: &workers };
    cwm_findings::write(context.output("findings")?, alignment.run(&sites, &rows)?)
}
