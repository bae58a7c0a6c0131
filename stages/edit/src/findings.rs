//! The findings over all edits: means and their intervals, differences, tests, and densities of masses.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cwm_findings::{Finding, Kind};
use cwm_inside::statistics::{deviation, welch};
use cwm_measures::Resamples;
use shakmaty::Square;

use crate::comparison::PIECES;
use crate::row::{EditDescription, EditRow};

/// A number of a row, by the name of its mean.
type Measure = (&'static str, fn(&EditRow) -> Option<f64>);

static MOVES: [Measure; 5] = [
    ("target", |row| row.mass_target),
    ("original", |row| row.mass_original),
    ("future", |row| row.mass_future),
    ("both", |row| row.mass_both),
    ("same_argmax", |row| row.same_argmax.map(f64::from)),
];

static STATE: [Measure; 4] = [
    ("square_empty", |row| row.square_empty.map(f64::from)),
    ("right_target", |row| Some(f64::from(row.right_target?) / 75.0)),
    ("right_original", |row| Some(f64::from(row.right_original?) / 75.0)),
    ("right_others", |row| Some(f64::from(row.right_others?) / f64::from(row.others?))),
];

/// Bins of a density.
const BINS: usize = 64;

/// Rows of one intervention and η, each with the place of its game and the row without an edit.
struct Group<'a> {
    intervention: &'a str,
    eta: Option<f64>,
    rows: Vec<Entry<'a>>,
}

#[derive(Clone, Copy)]
struct Entry<'a> {
    game: usize,
    row: &'a EditRow,
    unedited_row: &'a EditRow,
}

/// Returns the findings of these rows, which are sorted by game and case, the row without an edit first in each case.
pub fn findings(
    description: &EditDescription,
    network: &str,
    rows: &[EditRow],
    resamples: u64,
    seed: u64,
) -> Vec<Finding> {
    let groups = groups(rows);
    let games = groups.first().and_then(|group| group.rows.last()).map_or(0, |entry| entry.game + 1);
    let random: HashMap<_, &EditRow> =
        rows.iter().filter(|row| row.intervention == "random").map(|row| (key(row), row)).collect();
    let (measures, compared): (&[Measure], &[Measure]) =
        if description.task == "moves" { (&MOVES, &MOVES[..2]) } else { (&STATE, &STATE[..1]) };
    let unedited = rows.iter().filter(|row| row.layer.is_none()).filter_map(|row| row.mass_target).collect();
    let of = GroupMeans {
        description,
        network,
        measures,
        compared,
        resamples: Resamples::draw(games, resamples, seed),
        random,
        unedited,
    };
    let mut found = Vec::new();
    for group in &groups {
        found.push(of.finding(group, None));
        let of_layers = description.layers.iter().map(|&layer| of.finding(group, Some(layer)));
        found.extend(of_layers.filter(|finding| finding.n > 0));
    }
    for group in groups.iter().filter(|group| group.eta.is_some()) {
        found.extend(of.parts(group, "ply", |row| (row.ply, row.ply.to_string())));
        let piece = |row: &EditRow| (u32::from(row.piece), char::from(PIECES[usize::from(row.piece)]).to_string());
        found.extend(of.parts(group, "piece", piece));
        let square = |row: &EditRow| (u32::from(row.square), Square::new(u32::from(row.square)).to_string());
        found.extend(of.parts(group, "square", square));
    }
    for group in groups.iter().filter(|_| description.task == "moves") {
        found.extend(MOVES[..3].iter().map(|measure| of.density(group, measure)));
    }
    found
}

/// The identity of an edit apart from its intervention: game, ply, layer and the bits of η.
type EditKey = (u32, u32, Option<u8>, Option<u64>);

fn key(row: &EditRow) -> EditKey {
    (row.game, row.ply, row.layer, row.eta.map(f64::to_bits))
}

/// Rows by intervention and η, in their first order: those without an edit come first.
fn groups(rows: &[EditRow]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let (mut game, mut unedited_row) = (0, None::<&EditRow>);
    for row in rows {
        if row.layer.is_none() {
            game += usize::from(unedited_row.is_some_and(|before| before.game != row.game));
            unedited_row = Some(row);
        }
        let Some(unedited_row) = unedited_row else { continue };
        let entry = Entry { game, row, unedited_row };
        let is_same = |group: &&mut Group<'_>| group.intervention == row.intervention && group.eta == row.eta;
        match groups.iter_mut().find(is_same) {
            Some(group) => group.rows.push(entry),
            None => groups.push(Group { intervention: &row.intervention, eta: row.eta, rows: vec![entry] }),
        }
    }
    groups
}

struct GroupMeans<'a> {
    description: &'a EditDescription,
    network: &'a str,
    measures: &'a [Measure],
    /// The measures that are compared with no edit; the first, which an edit raises, also with a random edit.
    compared: &'a [Measure],
    resamples: Resamples,
    random: HashMap<EditKey, &'a EditRow>,
    /// Mass on the target of each case without an edit.
    unedited: Vec<f64>,
}

impl GroupMeans<'_> {
    /// Means of a group, of one layer or of all. Without an edit all layers are the same.
    fn finding(&self, group: &Group<'_>, layer: Option<usize>) -> Finding {
        let is_of =
            |entry: &&Entry<'_>| layer.is_none() || group.eta.is_none() || entry.row.layer.map(usize::from) == layer;
        let entries: Vec<Entry<'_>> = group.rows.iter().filter(is_of).copied().collect();
        let mut finding = self.named(Kind::Edit, group, layer, entries.len());
        if layer.is_none() && group.eta.is_some() {
            finding = finding.name("layers", layers_of(&entries));
        }
        for (name, value) in self.measures {
            let values: Vec<f64> = entries.iter().filter_map(|entry| value(entry.row)).collect();
            finding = self.mean(finding, name, entries.iter().map(|entry| (entry.game, value(entry.row))));
            if !["same_argmax", "square_empty"].contains(name) {
                finding = deviation(&values)
                    .into_iter()
                    .fold(finding, |finding, sd| finding.value(&format!("{name}_sd"), sd));
            }
        }
        if group.eta.is_none() {
            return finding;
        }
        for (name, value) in self.compared {
            let over =
                entries.iter().map(|entry| (entry.game, difference(value(entry.row), value(entry.unedited_row))));
            finding = self.mean(finding, &format!("{name}_over_none"), over);
        }
        if let (Some((raised, of_raised)), true) = (self.compared.first(), group.intervention != "random") {
            let random = |entry: &Entry<'_>| self.random.get(&key(entry.row)).and_then(|random| of_raised(random));
            let over = entries.iter().map(|entry| (entry.game, difference(of_raised(entry.row), random(entry))));
            finding = self.mean(finding, &format!("{raised}_over_random"), over);
        }
        let edited: Vec<f64> = entries.iter().filter_map(|entry| entry.row.mass_target).collect();
        match welch(&edited, &self.unedited) {
            Some(test) => finding.value("welch_t", test.t).value("welch_df", test.df).value("welch_p", test.p),
            None => finding,
        }
    }

    /// Means of a group, split by the key that `part` returns for a row.
    fn parts(&self, group: &Group<'_>, name: &str, part: impl Fn(&EditRow) -> (u32, String)) -> Vec<Finding> {
        let mut parts: BTreeMap<(u32, String), Vec<&EditRow>> = BTreeMap::new();
        group.rows.iter().for_each(|entry| parts.entry(part(entry.row)).or_default().push(entry.row));
        let finding = |((_, text), rows): ((u32, String), Vec<&EditRow>)| {
            let finding = self.named(Kind::Edit, group, None, rows.len()).name(name, text);
            self.measures.iter().fold(finding, |finding, (name, value)| {
                let values: Vec<f64> = rows.iter().filter_map(|row| value(row)).collect();
                finding.value(name, values.iter().sum::<f64>() / values.len() as f64)
            })
        };
        parts.into_iter().map(finding).collect()
    }

    /// The density of a mass over the rows of all layers.
    fn density(&self, group: &Group<'_>, (board, value): &Measure) -> Finding {
        let values: Vec<f64> = group.rows.iter().filter_map(|entry| value(entry.row)).collect();
        let mut bins = [0u64; BINS];
        values.iter().for_each(|mass| bins[((mass * BINS as f64) as usize).min(BINS - 1)] += 1);
        let finding = self.named(Kind::Density, group, None, values.len()).name("board", board);
        let share = |count: u64| count as f64 / values.len() as f64;
        bins.iter()
            .enumerate()
            .fold(finding, |finding, (bin, count)| finding.value(&format!("{bin:02}"), share(*count)))
    }

    fn named(&self, kind: Kind, group: &Group<'_>, layer: Option<usize>, n: usize) -> Finding {
        let finding =
            Finding::new(kind, &self.description.model, self.network, layer.map(|layer| layer as u32), n as u64);
        let finding = finding.name("task", &self.description.task).name("intervention", group.intervention);
        group.eta.into_iter().fold(finding, |finding, eta| finding.name("eta", eta))
    }

    /// Adds the mean of `values`, each with the place of its game, to `finding`, if there are any.
    fn mean(&self, finding: Finding, name: &str, values: impl Iterator<Item = (usize, Option<f64>)>) -> Finding {
        let values = values.filter_map(|(game, value)| Some((game, value?)));
        match self.resamples.estimate(values) {
            Some(estimate) => finding.estimate(name, estimate.mean, estimate.interval),
            None => finding,
        }
    }
}

/// The layers that were edited, such as `0 to 4` or `1, 3`.
fn layers_of(entries: &[Entry<'_>]) -> String {
    let layers: BTreeSet<u8> = entries.iter().filter_map(|entry| entry.row.layer).collect();
    match (layers.first(), layers.last()) {
        (Some(first), Some(last)) if first < last && usize::from(last - first) + 1 == layers.len() => {
            format!("{first} to {last}")
        }
        _ => layers.iter().map(u8::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn difference(one: Option<f64>, two: Option<f64>) -> Option<f64> {
    Some(one? - two?)
}
