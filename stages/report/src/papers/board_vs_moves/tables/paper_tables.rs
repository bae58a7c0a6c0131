//! The paper's tables 2 and 3, beside our values.

use cwm_page::{Column, Row, Table, TableCell, number};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::counts::CountedValue;
use crate::papers::board_vs_moves::curves::Curve;
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::play::{ArmGames, Opponent};
use crate::papers::board_vs_moves::tables::printed_row;
use crate::papers::board_vs_moves::training::Training;

/// The paper's hyper-parameters: name in the facts, and heading.
const SETTINGS: [(&str, &str); 10] = [
    ("learning_rate", "Learning rate"),
    ("batch_size", "Batch size"),
    ("gradient_accumulation_steps", "Gradient accumulation"),
    ("token_batch_size", "Tokens a batch"),
    ("max_iterations", "Steps"),
    ("beta1", "β₁"),
    ("beta2", "β₂"),
    ("warmup_iterations", "Warm-up"),
    ("lr_decay_iterations", "Decay steps"),
    ("minimum_lr", "Lowest learning rate"),
];

/// Decay of AdamW's first moment, which is no parameter of ours.
const BETA1: f64 = 0.9;

/// Table 2: hyper-parameters of the paper's pretrained models, and ours from the choices of the model, else from the
/// curves.
pub(crate) fn table_2(curves: &[Curve], counts: &[CountedValue], facts: &Facts) -> Table {
    let mut columns = vec![Column::text("Model").naming_rows()];
    columns.extend(SETTINGS.map(|(key, heading)| Column::number(heading).with_key(key)));
    let ours = curves.iter().filter(|curve| !curve.train.is_empty()).map(|curve| vec![ours(curve, counts)]);
    let groups: Vec<Vec<Row>> = ours.collect();
    let papers = |model: &'static str| {
        let cells = SETTINGS.map(|(key, _)| facts.cell(model, key, 1.0));
        vec![printed_row(std::iter::once(TableCell::text(model)).chain(cells).collect())]
    };
    Table {
        id: id("table-02"),
        title: "Hyper-parameters".into(),
        paper: Some("Table 2, Appendix D.3"),
        caption: "Of the paper's two pretrained models as printed, its `4*` included; of ours as the trained model's description has it. Our \
                  batches are one update each, so none is accumulated; tokens a batch are a mean. Where the report has no choices of \
                  the model, rates and steps are those of its curves. The paper has none of its nanoGPTs."
            .into(),
        columns,
        not_run: if groups.is_empty() { Vec::new() } else { ["llama", "pythia"].map(papers).into() },
        groups,
        noun: "models",
        ..Table::default()
    }
}

fn ours(curve: &Curve, counts: &[CountedValue]) -> Row {
    let training = curve.chooser.as_ref().map(|chooser| Training::new(chooser, counts));
    let number = |key: &str| training.and_then(|training| training.number(key));
    let rates = || curve.train.iter().filter_map(|(_, _, rate)| *rate);
    let setting = |value: f64| TableCell::number(value, number::setting(value));
    let count = |value: f64| TableCell::count(value.round() as u64);
    let last = curve.train.iter().chain(&curve.validation).map(|(step, ..)| *step).max();
    let known = |key: &str| match key {
        "learning_rate" => number("lr").or_else(|| rates().reduce(f64::max)).map(rate),
        "minimum_lr" => training.and_then(Training::lowest_rate).or_else(|| rates().next_back()).map(rate),
        "batch_size" => number("batch_size").map(count),
        "gradient_accumulation_steps" => number("batch_size").map(|_| TableCell::count(1)),
        "token_batch_size" => training.and_then(Training::batch_tokens).map(count),
        "max_iterations" => curve.chooser.as_ref().and_then(|chooser| chooser.steps).or(last).map(TableCell::count),
        "beta1" => number("beta2").map(|_| setting(BETA1)),
        "beta2" => number("beta2").map(setting),
        "warmup_iterations" => number("warmup").map(count),
        "lr_decay_iterations" => training.and_then(Training::horizon).map(count),
        _ => None,
    };
    let numbers =
        SETTINGS.map(|(key, _)| known(key).map_or(TableCell::none(), |cell| cell.with_sources([&curve.label])));
    Row::ours(std::iter::once(TableCell::text(curve.name(true))).chain(numbers).collect())
}

/// A learning rate with three digits: the rates in curves have rounding errors beyond them.
fn rate(rate: f64) -> TableCell {
    TableCell::number(rate, number::setting(format!("{rate:.2e}").parse().unwrap_or(rate)))
}

/// Table 3: the rating of each level, and the number of games against it here.
pub(crate) fn table_3(played: &[ArmGames], facts: &Facts) -> Table {
    let games = |level: u8| {
        let of = |played: &ArmGames| played.games_by_opponent.get(&Opponent::Level(level)).map_or(0, Vec::len);
        played.iter().map(of).sum::<usize>() as u64
    };
    let row = |level: u8| {
        let rating = facts.cell(&level.to_string(), "elo", 1.0);
        Some(vec![Row::ours(vec![TableCell::count(u64::from(level)), rating, TableCell::count(games(level))])])
    };
    let levels = (0..20).filter(|level| facts.level(*level).is_some() || games(*level) > 0);
    Table {
        id: id("table-03"),
        title: "Ratings of Stockfish's levels".into(),
        paper: Some("Table 3, Appendix H"),
        caption: "As printed: Stockfish's own figures of January 2023, for version 16 at 120 s + 1 s a game, rated against one other engine \
                  on the scale of a list of engines. Another version, or another limit, is another player; the scale of the version that \
                  Debian has is older. A level without a rating is played and counted, and enters no rating."
            .into(),
        columns: vec![Column::number("Level").naming_rows(), Column::number("Elo"), Column::number("Games here")],
        groups: if played.is_empty() { Vec::new() } else { levels.filter_map(row).collect() },
        noun: "levels",
        ..Table::default()
    }
}
