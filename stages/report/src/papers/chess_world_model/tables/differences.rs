//! Models beside others, paired by game.

use cwm_page::{
    Column, Interval, Row, Table, TableCell, escape_controls,
    number::{percent, plain, signed},
};

use crate::papers::chess_world_model::format::{four_decimals, loss};
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::read::json_lines::Difference;
use crate::papers::chess_world_model::tables::{EXACT_HEADING, EXACT_KEY};
use crate::papers::chess_world_model::test_set::TestSet;

/// A metric's difference, the ends of its interval, and its p-value.
type DifferenceTest = [Option<f64>; 4];

/// A metric: its heading, its test result, the function that prints a difference, and the factor to its unit.
type ShownMetric = (&'static str, fn(&Difference) -> DifferenceTest, fn(f64) -> String, f64);

const SHOWN: [ShownMetric; 3] = [
    ("Loss", |line| [line.difference, line.low, line.high, line.p], |value| signed(value, loss), 1.0),
    (
        "Labelwise (%)",
        |line| [line.labelwise_difference, line.labelwise_low, line.labelwise_high, line.labelwise_p],
        |value| signed(value, percent),
        100.0,
    ),
    (
        EXACT_HEADING,
        |line| [line.exact_difference, line.exact_low, line.exact_high, line.exact_p],
        |value| signed(value, percent),
        100.0,
    ),
];

/// A row for each pair of models and test set.
pub(crate) fn differences(compared: &[(String, Vec<Difference>)]) -> Table {
    let mut all: Vec<_> = compared
        .iter()
        .flat_map(|(label, lines)| lines.iter().map(move |line| (label, line)))
        .map(|(label, line)| {
            let baseline_size = line.baseline_size.as_ref().unwrap_or(&line.size);
            let baseline_variant = line.baseline_variant.as_ref().unwrap_or(&line.variant);
            let model = model(&line.family, &line.size, &line.variant);
            let baseline = model_of_baseline(&model, &line.baseline, baseline_size, baseline_variant);
            (TestSet::from_name(&escape_controls(&line.test)), model, baseline, line, label)
        })
        .collect();
    all.sort_by(|one, other| (&one.0, &one.1, &one.2.0, one.4).cmp(&(&other.0, &other.1, &other.2.0, other.4)));
    let mut confidences: Vec<f64> = all.iter().map(|(.., line, _)| line.confidence).collect();
    confidences.sort_by(f64::total_cmp);
    confidences.dedup();
    let confidences: Vec<String> = confidences.into_iter().map(|confidence| plain(confidence * 100.0)).collect();
    let rows = |name: fn(&TestSet) -> String| {
        all.iter().map(move |(test, model, (_, baseline), line, label)| {
            let mut cells = vec![
                TableCell::text(name(test)),
                TableCell::text(model.name()),
                TableCell::text(model.size.clone()),
                TableCell::text(baseline.clone()),
            ];
            cells.extend(SHOWN.iter().flat_map(|shown| tested(line, shown, label)));
            cells.extend(
                [TableCell::percent(line.lower_games), TableCell::count(line.games)]
                    .map(|cell| cell.with_sources([*label])),
            );
            vec![Row::ours(cells)]
        })
    };
    let mut columns = ["Test set", "Model", "Size", "Baseline"].map(|name| Column::text(name).naming_rows()).to_vec();
    for (heading, ..) in SHOWN {
        let below = ["Difference", "p"].map(|name| Column::number(name).under(heading));
        columns.extend(
            below.map(|column| if heading == EXACT_HEADING { column.with_over_key(EXACT_KEY) } else { column }),
        );
    }
    columns.extend(["Games lower (%)", "Games"].map(Column::number));
    let data = Table { columns: columns.clone(), groups: rows(TestSet::data_name).collect(), ..Table::default() };
    Table {
        id: "differences".into(),
        title: "Differences, paired by game".into(),
        caption: format!(
            "Each model less its baseline on the same games (a loss is negative where the model is better), with the \
             interval that holds {} % of the differences when the games are drawn anew with replacement (bootstrap); p is how \
             often a difference at least as large comes about where the two change places by chance, game by game, not \
             corrected for the number of pairs; and the share of games on which the model's loss is lower.",
            confidences.join(" or ")
        ),
        columns,
        groups: rows(TestSet::to_string).collect(),
        folds: true,
        data: Some(Box::new(data)),
        ..Table::default()
    }
}

fn model(family: &str, size: &str, variant: &str) -> Model {
    Model::new(&format!("m[{}]", escape_controls(variant)), &escape_controls(family), &escape_controls(size))
}

/// Returns the baseline, and its name beside `model`: with its size where that differs.
fn model_of_baseline(model: &Model, family: &str, size: &str, variant: &str) -> (Model, String) {
    let baseline = self::model(family, size, variant);
    let name = match (baseline.variant() == model.variant(), baseline.size == model.size) {
        (true, true) => crate::papers::chess_world_model::model::family_name(&baseline.family).to_owned(),
        (_, true) => baseline.name(),
        (_, false) => format!("{} {}", baseline.name(), baseline.size),
    };
    (baseline, name)
}

/// The difference with its interval, and p.
fn tested(line: &Difference, (_, read, print, unit): &ShownMetric, label: &String) -> [TableCell; 2] {
    let [difference, low, high, p] = read(line);
    let interval = low.zip(high).map(|(low, high)| Interval::new(low, high, *print, *unit));
    let difference = difference.map(|value| TableCell::number(value * unit, print(value)).with_interval(interval));
    let p = p.map(|p| TableCell::number(p, probability(p)));
    [difference, p].map(|cell| cell.map_or(TableCell::none(), |cell| cell.with_sources([label])))
}

/// Formats with 4 decimals; no probability prints as zero.
fn probability(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { four_decimals(p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_probability_is_zero() {
        let printed = [0.0, 4e-5, 9.999e-5, 1e-4, 0.06254, 1.0].map(probability);
        assert_eq!(printed, ["< 0.0001", "< 0.0001", "< 0.0001", "0.0001", "0.0625", "1.0000"]);
    }

    #[test]
    fn every_confidence_is_reported() {
        let line = |confidence: f64| -> Difference {
            serde_json::from_value(serde_json::json!({
                "family": "slice", "size": "d8/l1", "variant": "", "baseline": "transformer", "test": "held_out",
                "games": 9, "difference": 0.5, "low": 0.25, "high": 0.75, "p": 0.5, "confidence": confidence,
                "lower_games": 0.5,
            }))
            .unwrap()
        };
        let caption = |of: &[f64]| {
            differences(&[("d".to_owned(), of.iter().copied().map(line).collect::<Vec<Difference>>())]).caption
        };
        assert!(caption(&[0.95, 0.95]).contains("holds 95 % of"), "{}", caption(&[0.95, 0.95]));
        assert!(caption(&[0.95, 0.9, 0.95]).contains("holds 90 or 95 % of"), "{}", caption(&[0.95, 0.9, 0.95]));
    }
}
