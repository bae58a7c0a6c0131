//! The whole stage.

use std::collections::HashSet;
use std::path::Path;

use cwm_contract::{Context, Failure};
use cwm_findings::Finding;
use cwm_inside::linear_probe::{LinearProbe, Majority, Predictions, SQUARES, Target, compose};
use cwm_inside::{Collection, Model, Rows, RowsWriter, autoencoder, collect, scratch};
use cwm_models::device;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Device, Precision};

use crate::boards::Boards;
use crate::config::Config;
use crate::findings::FindingsBuilder;
use crate::games::Games;
use crate::inputs::{Form, Inputs, root_mean_square};
use crate::measure::{LinearProbeCounts, measure};
use crate::train::{TrainedLinearProbe, differences, train};

/// Runs the stage.
///
/// # Errors
/// An input is not what it should be, an operation on the disk fails, or the stage was cancelled.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    device::run(context, |device| LinearProbeRun::open(context, &config, device)?.run())
}

/// All that the parts of a run share.
pub struct LinearProbeRun<'a> {
    /// The executor.
    pub context: &'a Context,
    /// The parameters.
    pub config: &'a Config,
    /// The model.
    pub model: Model,
    /// The rows that are collected; its sites are the layers.
    pub collection: Collection,
    workers: WorkerPool,
    /// The autoencoders and their folder, if boards are read from latents.
    pub autoencoder: Option<(autoencoder::Description, &'a Path)>,
}

/// Rows of an input with their boards.
pub struct CollectedRows {
    /// The rows of each layer.
    pub rows: Rows,
    /// Names of the games that they are of.
    pub ids: HashSet<String>,
    /// Number of these games.
    pub games: usize,
    /// Games that are dropped, by the reason.
    pub dropped: [(&'static str, u64); 2],
    boards: Boards,
}

impl<'a> LinearProbeRun<'a> {
    fn open(context: &'a Context, config: &'a Config, device: &Device) -> Result<Self, Failure> {
        let model = Model::open(context.input("checkpoint")?, config.weights_source(), device)?;
        let model = model.with_precision(config.precision())?;
        model.check_family(config.family.as_deref())?;
        let autoencoder = context.optional_input("autoencoder").map(|folder| {
            let description = autoencoder::Description::read(folder)?;
            check_autoencoder(&description, &model)?;
            Ok::<_, Failure>((description, folder))
        });
        let autoencoder = autoencoder.transpose()?;
        let sites = match &autoencoder {
            Some((description, _)) if config.layers.is_empty() => description.layers.clone(),
            _ => model.checked_sites(&config.layers, "layers")?,
        };
        let collection = Collection { sites, normed: config.normed, batch_tokens: config.batch_tokens as usize };
        let workers = WorkerPool::new(context.cores())?;
        Ok(LinearProbeRun { context, config, model, workers, collection, autoencoder })
    }

    fn run(&self) -> Result<(), Failure> {
        let mut train = self.collect("train", None)?;
        let test = self.collect("test", Some(&train.ids))?;
        if self.config.labels == "shuffled" {
            train.boards.shuffle(self.config.seed);
        }
        let forms = self.forms(&train.rows)?;
        let target = self.config.target();
        self.context.activity("making linear probes");
        let made = self.make(&train, &forms, target)?;
        let mut findings = self.measure(&made, &forms, &train, &test)?;
        if self.config.composition {
            findings.extend(self.composition(&made, &train, &forms)?);
        }
        cwm_findings::write(self.context.output("findings")?, findings)?;
        self.write(made, &forms, &train)
    }

    /// The rows of an input, which must not have a game of `others`.
    fn collect(&self, input: &'static str, others: Option<&HashSet<String>>) -> Result<CollectedRows, Failure> {
        self.context.activity(format!("reading {input}"));
        let mut games = Games::open(self.context, self.config, &self.model, input)?;
        let (sites, width) = (self.collection.sites.len(), self.model.width());
        let dropped = [("too_long", games.too_long), ("other_rules", games.of_other_rules)];
        let (rows, read, [(_, too_long), (_, other_rules)]) = (games.rows, games.len(), dropped);
        let scratch = scratch(rows, sites, width);
        self.context.log(format!("{input}: {rows} rows of {read} games; {scratch}"));
        cwm_inside::dropped(input, too_long, other_rules).into_iter().for_each(|note| self.context.note(note));
        let mut writer = RowsWriter::create(self.context.temporary(), input, sites, width)?;
        let workers = device::workers(self.context, self.model.pass().device())?;
        collect(self.context, &self.model, &workers, &self.collection, games.wanted(others), &mut writer)?;
        let rows = writer.finish()?;
        Ok(CollectedRows { rows, ids: games.ids().clone(), games: read, dropped, boards: games.boards })
    }

    /// Returns the form in which the rows of each layer are read.
    fn forms(&self, train: &Rows) -> Result<Vec<Form>, Failure> {
        if let Some((description, folder)) = &self.autoencoder {
            let form = |site: &usize| {
                let trained = description.open(folder, *site)?;
                let autoencoder = Box::new(trained.on(&device::cpu(), Precision::Fp32));
                Ok(Form::Latents { autoencoder, latents: description.latents })
            };
            return self.collection.sites.iter().map(form).collect();
        }
        let divides = self.config.divides(&self.model.description().architecture.family);
        let scale = |site| if divides { root_mean_square(train, site) } else { 1.0 };
        Ok(self.workers.map(self.collection.sites.len(), scale).into_iter().map(Form::Stream).collect())
    }

    /// A linear probe of each layer.
    fn make(&self, train: &CollectedRows, forms: &[Form], target: Target) -> Result<Vec<TrainedLinearProbe>, Failure> {
        let labels = |row: usize, into: &mut Vec<u8>| train.boards.push_classes(target, row, into);
        let classes = target.classes().len();
        let layers = inputs(&train.rows, forms);
        if self.config.is_trained() {
            self::train(self.context, self.config, &self.workers, &layers, &labels, classes)
        } else {
            differences(self.context, &self.workers, &layers, &labels, classes)
        }
    }

    fn measure(
        &self,
        made: &[TrainedLinearProbe],
        forms: &[Form],
        train: &CollectedRows,
        test: &CollectedRows,
    ) -> Result<Vec<Finding>, Failure> {
        self.context.activity("measuring");
        let target = self.config.target();
        let labels = test.boards.classes(target);
        let probes: Vec<(&LinearProbe, Inputs<'_>)> =
            made.iter().map(|made| &made.probe).zip(inputs(&test.rows, forms)).collect();
        let measured = measure(self.context, &self.workers, &probes, &test.boards, &labels)?;
        let reporter = self.reporter();
        let mut findings = Vec::new();
        let mut best: Option<f64> = None;
        for ((site, made), measured) in self.collection.sites.iter().zip(made).zip(&measured) {
            let of_layer = reporter.probe(&self.config.method, Some(*site as u32), made.loss, measured);
            let occupied = of_layer.first().and_then(|whole| whole.get("occupied"));
            best = best.into_iter().chain(occupied).reduce(f64::max);
            findings.extend(of_layer);
        }
        if let Some(best) = best {
            self.context.metric("occupied", best);
        }
        let (mut majority, mut of_row) = (Majority::new(target.classes().len()), Vec::new());
        for row in 0..train.boards.len() {
            of_row.clear();
            train.boards.push_classes(target, row, &mut of_row);
            majority.add(&of_row);
        }
        let board = majority.board();
        let rows = labels.len() / SQUARES;
        let majority = Predictions { classes: board.repeat(rows), losses: vec![0.0; rows] };
        findings.extend(reporter.probe(
            "majority",
            None,
            None,
            &LinearProbeCounts::of(&test.boards, &labels, &majority),
        ));
        Ok(findings)
    }

    fn composition(
        &self,
        both: &[TrainedLinearProbe],
        train: &CollectedRows,
        forms: &[Form],
    ) -> Result<Vec<Finding>, Failure> {
        self.context.activity("comparing piece and colour");
        let (colour, piece) = (self.make(train, forms, Target::Colour)?, self.make(train, forms, Target::Piece)?);
        let reporter = self.reporter();
        let parts = self.collection.sites.iter().zip(both).zip(colour.iter().zip(&piece));
        let of_layer = |((site, both), (colour, piece)): (
            (&usize, &TrainedLinearProbe),
            (&TrainedLinearProbe, &TrainedLinearProbe),
        )| {
            let found = compose(&colour.probe, &piece.probe, &both.probe);
            reporter.composition(*site as u32, &found)
        };
        Ok(parts.flat_map(of_layer).collect())
    }

    fn reporter(&self) -> FindingsBuilder<'_> {
        FindingsBuilder {
            config: self.config,
            model: &self.model,
            input_kind: self.input_kind(),
            workers: &self.workers,
        }
    }

    /// `stream` or `latents`.
    pub fn input_kind(&self) -> &'static str {
        if self.autoencoder.is_some() { "latents" } else { "stream" }
    }
}

/// Returns the inputs of the linear probe of each layer.
fn inputs<'a>(rows: &'a Rows, forms: &'a [Form]) -> Vec<Inputs<'a>> {
    forms.iter().enumerate().map(|(site, form)| Inputs { rows, site, form }).collect()
}

/// Refuses autoencoders of another model.
fn check_autoencoder(description: &autoencoder::Description, model: &Model) -> Result<(), Failure> {
    let (found, width) = (description.width, model.width());
    if found != width {
        let message = format!("the autoencoder is of rows of {found} channels, and {} has {width}", model.name());
        return Err(Failure::input(message));
    }
    let digest = description.model.get("digest").and_then(serde_json::Value::as_str);
    if digest != Some(model.digest()) {
        let message = format!("the autoencoder is of another model than the checkpoint, which is {}", model.name());
        return Err(Failure::input(message).hint("autoencoders and checkpoint must be of one training"));
    }
    Ok(())
}
