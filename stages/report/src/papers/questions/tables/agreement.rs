//! Two runs on the same items.

use cwm_page::{Column, Row, Table, TableCell};

use super::{points, share, with_source};
use crate::papers::questions::id;
use crate::papers::questions::measured::Measurements;

/// Figure 8.
pub(crate) fn agreement(measured: &Measurements) -> Table {
    let mut columns = ["Run", "Other"].map(|name| Column::text(name).naming_rows()).to_vec();
    columns.extend(["Items", "Agreement (%)", "Both correct (%)", "Difference"].map(Column::number));
    let runs = &measured.runs;
    let pairs = runs.iter().enumerate().flat_map(|(at, one)| {
        runs[at + 1..].iter().filter_map(move |other| {
            let (pair, difference) = measured.pair(one, other)?;
            let mut cells =
                vec![TableCell::text(&one.name), TableCell::text(&other.name), TableCell::count(pair.items)];
            let shares = [pair.agreement, pair.both_correct].map(|count| share(count, pair.items));
            cells.extend(with_source(one, shares.into_iter().chain([points(difference)])));
            Some(vec![Row::ours(cells)])
        })
    });
    Table {
        id: id("agreement"),
        title: "Agreement of runs".into(),
        paper: Some("Figure 8, Appendix B"),
        caption: "Items on which both runs are right or both wrong; the paper does not define its agreement. The difference is the accuracy of \
                  the one less that of the other in points, paired by item, with its 95 % interval."
            .into(),
        columns,
        groups: pairs.collect(),
        noun: "pairs",
        folds: true,
        ..Table::default()
    }
}
