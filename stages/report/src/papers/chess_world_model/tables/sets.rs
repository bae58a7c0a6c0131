//! The sets of games: their lengths, and the events in those that were played here.

use cwm_page::{Column, Row, Table, TableCell, number};

use crate::papers::chess_world_model::read::counts::{Counts, LabelledCounts, TokenSet};

/// Every tokenized set; `None` where nothing was tokenized.
pub(crate) fn sets(counts: &[LabelledCounts]) -> Option<Table> {
    let mut groups = Vec::new();
    for labelled in counts {
        if let Counts::Tokenize { sets, .. } = &labelled.counts {
            let from = |cell: TableCell| cell.with_sources([&labelled.label]);
            let row = |(name, set): (&String, &TokenSet)| {
                Row::ours(vec![
                    TableCell::text(labelled.label.clone()),
                    TableCell::text(name.clone()),
                    from(TableCell::count(set.games)),
                    from(TableCell::count(set.plies)),
                    from(mean(set.plies, set.games)),
                    from(TableCell::count(set.unique_moves)),
                ])
            };
            groups.push(sets.iter().map(row).collect());
        }
    }
    (!groups.is_empty()).then(|| Table {
        id: "sets".into(),
        title: "Sets of games".into(),
        caption: "What models are trained and tested on; plies are moves, both sides' counted.".into(),
        columns: vec![
            Column::text("Stage"),
            Column::text("Set"),
            Column::number("Games"),
            Column::number("Plies"),
            Column::number("Mean plies"),
            Column::number("Distinct moves"),
        ],
        groups,
        shared_columns: 1,
        ..Table::default()
    })
}

/// The events in the games that were played here; `None` where none were.
pub(crate) fn played(counts: &[LabelledCounts]) -> Option<Table> {
    let mut groups = Vec::new();
    for labelled in counts {
        if let Counts::Play(played) = &labelled.counts {
            let share = |games: u64| match played.games {
                0 => TableCell::none(),
                all => TableCell::percent(games as f64 / all as f64),
            };
            let mut cells = vec![TableCell::text(labelled.label.clone()), TableCell::text(played.policy.clone())];
            let measured = [
                TableCell::count(played.games),
                mean(played.plies, played.games),
                mean(played.captures, played.games),
                mean(played.castlings.values().sum(), played.games),
                mean(played.promotions.values().sum(), played.games),
                mean(played.en_passant, played.games),
                share(played.mates),
                share(played.draws),
                share(played.unfinished),
            ];
            cells.extend(measured.map(|cell| if cell.absent { cell } else { cell.with_sources([&labelled.label]) }));
            groups.push(vec![Row::ours(cells)]);
        }
    }
    let each = "Mean of a game";
    let ended = "Games (%)";
    (!groups.is_empty()).then(|| Table {
        id: "played".into(),
        title: "What happens in the games that were played here".into(),
        caption: "Of all games that each stage made, those included that are too short to be kept. Captures include \
                  those en passant; unfinished games reached the limit of plies."
            .into(),
        columns: vec![
            Column::text("Stage"),
            Column::text("Policy"),
            Column::number("Games"),
            Column::number("Plies").under(each),
            Column::number("Captures").under(each),
            Column::number("Castlings").under(each),
            Column::number("Promotions").under(each),
            Column::number("En passant").under(each),
            Column::number("Mate").under(ended),
            Column::number("Draw").under(ended),
            Column::number("Unfinished").under(ended),
        ],
        groups,
        ..Table::default()
    })
}

fn mean(sum: u64, number: u64) -> TableCell {
    number::mean(sum, number).map_or(TableCell::none(), |(value, text)| TableCell::number(value, text))
}
