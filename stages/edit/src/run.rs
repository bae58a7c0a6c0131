//! The stage: games a window at a time, one pass without edits, then one for each site.

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure};
use cwm_inside::edit::{RecordedGame, StreamEdit, TokenView, board_direction, random_direction, scaled};
use cwm_inside::{Model, WeightsSource};
use cwm_models::Device;
use cwm_models::device;
use cwm_models::worker_pool::WorkerPool;
use cwm_table::TableWriter;

use crate::cases::{self, Case, DropCounts, Reason};
use crate::comparison::{BoardComparison, check_finite, class_of, label_of};
use crate::config::Config;
use crate::findings::findings;
use crate::linear_probes::{self, NamedLinearProbes};
use crate::row::{EditDescription, EditRow};
use crate::study;

/// Games whose edits are in memory at once.
const WINDOW: usize = 32;

/// The inputs that all windows share.
struct Editor<'a> {
    config: &'a Config,
    dataset: &'a Dataset,
    model: &'a Model,
    workers: &'a WorkerPool,
    sites: &'a [usize],
    probes: &'a [NamedLinearProbes],
}

/// A case that is edited, with the model's view at its end and at its future.
struct PreparedCase<'a> {
    case: &'a Case,
    /// Its game and its token, by their places among those that were recorded.
    game: usize,
    place: usize,
    at_end: &'a TokenView,
    at_future: &'a TokenView,
    comparison: BoardComparison,
}

/// Runs the stage.
///
/// # Errors
/// An input or a parameter is not what it should be, an operation on the disk fails, or the stage was cancelled.
pub fn run(context: &Context) -> Result<(), Failure> {
    device::run(context, |device| edit(context, device))
}

fn edit(context: &Context, device: &Device) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let model = Model::open(context.input("checkpoint")?, WeightsSource::Trained, device)?
        .with_precision(config.precision())?;
    model.check_family(config.family.as_deref())?;
    let workers = &device::workers(context, device)?;
    let mut sites = model.checked_sites(&config.layers, "layers")?;
    let wanted: &[usize] = if config.layers.is_empty() { &[] } else { &sites };
    let probes = linear_probes::read(context.group("probes"), &model, wanted)?;
    if config.layers.is_empty() && !probes.is_empty() {
        sites.retain(|&site| probes.iter().any(|set| set.probe(site).is_some()));
    }
    let sites = &sites;
    let studies = study::findings(&model, workers, &config, sites, &probes)?;
    let dataset = Dataset::open(context.input("games")?)?;
    let editor = Editor { config: &config, dataset: &dataset, model: &model, workers, sites, probes: &probes };

    let (mut rows, mut dropped) = (Vec::new(), DropCounts::new());
    // Rows come by ply, in whatever order the parameter has them.
    let mut plies = config.plies.clone();
    plies.sort_unstable();
    let total = config.games.map_or(dataset.len(), |games| dataset.len().min(games as usize));
    context.activity("editing");
    for first in (0..total).step_by(WINDOW) {
        context.check_cancelled()?;
        let window = first..total.min(first + WINDOW);
        let games = cases::read(&dataset, window.clone(), &model, &plies, &mut dropped)?;
        editor.edit(&games, &mut dropped, &mut rows)?;
        context.progress(window.end as u64, Some(total as u64), "games");
    }
    if rows.is_empty() {
        let counted: Vec<String> =
            dropped.iter().map(|(reason, number)| format!("{} {number}", reason.name())).collect();
        if counted.is_empty() {
            return Err(Failure::input("the input `games` has no game"));
        }
        let message = format!("no prefix of the games can be edited; dropped: {}", counted.join(", "));
        let hint = "`plies` has the lengths of the prefixes; a game must go on for six plies behind one";
        return Err(Failure::input(message).hint(hint));
    }
    let unedited: Vec<&EditRow> = rows.iter().filter(|row| row.layer.is_none()).collect();
    let about = EditDescription {
        model: model.name(),
        task: model.task().name().to_owned(),
        layers: sites.clone(),
        seed: config.seed,
        cases: unedited.len() as u64,
        targets_without_moves: unedited.iter().filter(|row| row.target_moves == Some(0)).count() as u64,
        dropped: Reason::ALL
            .map(|reason| (reason.name().to_owned(), dropped.get(&reason).copied().unwrap_or(0)))
            .into(),
    };
    context.log(format!("{} cases, dropped: {:?}", about.cases, about.dropped));
    let network = model.weights_source().name();
    let found = findings(&about, network, &rows, config.resamples, config.seed);
    let mut table = TableWriter::<EditRow>::create(context.output("edits")?, &about)?;
    rows.into_iter().try_for_each(|row| table.push(row))?;
    table.finish()?;
    cwm_findings::write(context.output("findings")?, found.into_iter().chain(studies))
}

impl Editor<'_> {
    /// Adds the rows of these games: for each case the row without an edit, then its edits by layer.
    fn edit(&self, games: &[cases::Game], dropped: &mut DropCounts, rows: &mut Vec<EditRow>) -> Result<(), Failure> {
        let batch_tokens = self.config.batch_tokens as usize;
        let recorded: Vec<RecordedGame<'_>> = games.iter().map(cases::Game::recorded).collect();
        let passes = self.model.record(self.workers, batch_tokens, self.sites, &recorded)?;
        let mut prepared = Vec::new();
        for (number, (game, views)) in games.iter().zip(&passes.views).enumerate() {
            let (views, futures) = views.split_at(game.cases.len());
            for (place, ((case, at_end), at_future)) in game.cases.iter().zip(views).zip(futures).enumerate() {
                check_finite(&[], &at_end.logits, || self.place(case, "without an edit".to_owned()))?;
                match BoardComparison::of(self.model.task(), case, &at_end.logits) {
                    Ok(comparison) => {
                        prepared.push(PreparedCase { case, game: number, place, at_end, at_future, comparison })
                    }
                    Err(reason) => *dropped.entry(reason).or_default() += 1,
                }
            }
        }
        let mut by_case: Vec<Vec<EditRow>> =
            prepared.iter().map(|one| vec![one.comparison.fill_row(one.row("none"), &one.at_end.logits)]).collect();
        for (place, &site) in self.sites.iter().enumerate() {
            let (mut wanted, mut edits) = (Vec::new(), Vec::new());
            for (number, one) in prepared.iter().enumerate() {
                for (intervention, direction) in self.directions(one, place) {
                    for &eta in &self.config.eta {
                        match scaled(&direction, eta, one.at_end.lengths[place]) {
                            Some(vector) => {
                                edits.push(StreamEdit { game: one.game, place: one.place, vector });
                                wanted.push((
                                    number,
                                    EditRow { layer: Some(site as u8), eta: Some(eta), ..one.row(intervention) },
                                ));
                            }
                            None => *dropped.entry(Reason::NoDirection).or_default() += 1,
                        }
                    }
                }
            }
            let logits = self.model.edited(self.workers, batch_tokens, &passes, site, &edits)?;
            for (((number, row), logits), edit) in wanted.into_iter().zip(logits).zip(&edits) {
                check_finite(&edit.vector, &logits, || {
                    let eta = row.eta.unwrap_or_default();
                    self.place(prepared[number].case, format!("layer {site}, `{}` with η {eta:?}", row.intervention))
                })?;
                by_case[number].push(prepared[number].comparison.fill_row(row, &logits));
            }
        }
        rows.extend(by_case.into_iter().flatten());
        Ok(())
    }

    /// The place of an edit, for errors: its game and ply, and `edit`.
    fn place(&self, case: &Case, edit: String) -> String {
        let game = self.dataset.get(case.game).ok().flatten().map(|game| game.row().id.to_owned()).unwrap_or_default();
        format!("input `games`, game {} ({game}), ply {}, {edit}", case.game, case.ply)
    }

    /// The directions that are added at the site of this place, by intervention and not yet of their length.
    fn directions(&self, one: &PreparedCase<'_>, place: usize) -> Vec<(&'static str, Vec<f32>)> {
        let site = self.sites[place];
        let mut directions = Vec::new();
        for intervention in &self.config.interventions {
            match intervention.as_str() {
                "random" => {
                    let of = [self.config.seed, one.case.game as u64, u64::from(one.case.ply), site as u64];
                    directions.push(("random", random_direction(of, self.model.width())));
                }
                "patch" => directions.push(("patch", one.at_future.rows[place].clone())),
                _ => directions.extend(self.probes.iter().filter_map(|set| {
                    let change = (label_of(one.comparison.square), [class_of(one.comparison.piece), 0]);
                    Some((set.name, board_direction(set.probe(site)?, &[change])))
                })),
            }
        }
        directions
    }
}

impl PreparedCase<'_> {
    fn row(&self, intervention: &str) -> EditRow {
        EditRow {
            game: self.case.game as u32,
            ply: self.case.ply,
            square: self.comparison.square.to_u32() as u8,
            piece: class_of(self.comparison.piece),
            intervention: intervention.to_owned(),
            ..EditRow::default()
        }
    }
}
