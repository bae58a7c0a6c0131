//! The paper's tables 2 and 3, with what is known of ours beside them.

use cwm_page::{Cell, Column, Row, Table, number};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::curves::Curve;
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::play::{Opponent, Played};
use crate::papers::board_vs_moves::tables::printed_row;

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

/// Table 2: hyper-parameters of the paper's pretrained models; of ours what the curves have.
pub(crate) fn table_2(curves: &[Curve], facts: &Facts) -> Table {
    let mut columns = vec![Column::text("Model").naming_rows()];
    columns.extend(SETTINGS.map(|(key, heading)| Column::number(heading).with_key(key)));
    let ours = curves.iter().filter(|curve| !curve.train.is_empty()).map(|curve| vec![ours(curve)]);
    let groups: Vec<Vec<Row>> = ours.collect();
    let papers = |model: &'static str| {
        let cells = SETTINGS.map(|(key, _)| facts.cell(model, key, 1.0));
        vec![printed_row(std::iter::once(Cell::text(model)).chain(cells).collect())]
    };
    Table {
        id: id("table-02"),
        title: "Hyper-parameters".into(),
        paper: Some("Table 2, Appendix D.3"),
        caption: "Of the paper's two pretrained models as printed, its `4*` included; of ours what their curves recorded: the highest and \
                  the last learning rate, and the last step. The pipeline has all others. The paper has none of its nanoGPTs."
            .into(),
        columns,
        not_run: if groups.is_empty() { Vec::new() } else { ["llama", "pythia"].map(papers).into() },
        groups,
        noun: "models",
        ..Table::default()
    }
}

fn ours(curve: &Curve) -> Row {
    let rates = || curve.train.iter().filter_map(|(_, _, rate)| *rate);
    let rate = |rate: Option<f64>| rate.map(|rate| Cell::number(rate, number::setting(rate)));
    let steps = curve.train.last().map(|(step, ..)| Cell::count(*step));
    let known = |key: &str| match key {
        "learning_rate" => rate(rates().reduce(f64::max)),
        "minimum_lr" => rate(rates().next_back()),
        "max_iterations" => steps.clone(),
        _ => None,
    };
    let numbers = SETTINGS.map(|(key, _)| known(key).map_or(Cell::none(), |cell| cell.with_sources([&curve.label])));
    Row::ours(std::iter::once(Cell::text(curve.name(true))).chain(numbers).collect())
}

/// Table 3: the ratings that levels are given, and how often each was played here.
pub(crate) fn table_3(played: &[Played], facts: &Facts) -> Table {
    let games = |level: u8| {
        let of = |played: &Played| played.against.get(&Opponent::Level(level)).map_or(0, Vec::len);
        played.iter().map(of).sum::<usize>() as u64
    };
    let row = |level: u8| {
        let rating = facts.cell(&level.to_string(), "elo", 1.0);
        Some(vec![Row::ours(vec![Cell::count(u64::from(level)), rating, Cell::count(games(level))])])
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
