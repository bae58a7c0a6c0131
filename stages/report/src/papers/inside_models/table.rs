//! Any table of findings: a row for each finding, then the paper's rows.

use cwm_findings::{Finding, Kind};
use cwm_page::{Column, Interval, Row, RowKind, Table, TableCell, number};

use super::facts::Facts;
use super::measured::MeasuredFinding;

/// The value of a legality that is a number of games.
pub(super) const SEEN_GAMES: &str = "seen_games";

/// A table.
pub(super) struct Spec {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) paper: Option<&'static str>,
    pub(super) caption: &'static str,
    pub(super) kind: Kind,
    /// Returns true if a finding of the kind is one of its rows.
    pub(super) keep: fn(&Finding) -> bool,
    /// Names and their headings. A column that no row fills is left out, among the values too.
    pub(super) names: &'static [(&'static str, &'static str)],
    /// Values and their headings.
    pub(super) values: &'static [(&'static str, &'static str)],
    /// The noun for the units that the values are over: the heading of the last column.
    pub(super) over: &'static str,
    /// The paper's rows.
    pub(super) printed: &'static [PrintedRow],
}

/// A row of the paper.
pub(super) struct PrintedRow {
    /// The row's texts in the columns of names, by name, `layer` included.
    pub(super) names: &'static [(&'static str, &'static str)],
    /// Values: by name, place, row and column of the fact.
    pub(super) values: &'static [(&'static str, [&'static str; 3])],
}

/// Makes the table; it has no rows where there are no findings.
pub(super) fn table(spec: &Spec, found: &[MeasuredFinding], facts: &Facts) -> Table {
    let is_row = |measured: &&MeasuredFinding| measured.finding.kind == spec.kind && (spec.keep)(&measured.finding);
    // Cells that differ in other things, such as the method, have some rows in common: the majority class.
    let is_first =
        |(at, measured): &(usize, &MeasuredFinding)| found[..*at].iter().all(|one| one.finding != measured.finding);
    let rows = found.iter().enumerate().filter(|(_, measured)| is_row(measured)).filter(is_first);
    let rows: Vec<&MeasuredFinding> = rows.map(|(_, measured)| measured).collect();
    let any = |has: &dyn Fn(&Finding) -> bool| rows.iter().any(|row| has(&row.finding));
    let names: Vec<_> = spec.names.iter().filter(|(name, _)| any(&|row| !row.named(name).is_empty())).collect();
    let values: Vec<_> = spec.values.iter().filter(|(value, _)| any(&|row| row.get(value).is_some())).collect();
    let has_layers = any(&|row| row.layer.is_some());
    let naming = |heading: &&str| Column::text(heading).naming_rows();
    let mut columns: Vec<Column> = ["Model", "Network"].iter().map(naming).collect();
    columns.extend(has_layers.then(|| Column::number("Layer").naming_rows()));
    columns.extend(names.iter().map(|(_, heading)| naming(heading)));
    columns.push(Column::text("Source"));
    columns.extend(values.iter().map(|(_, heading)| Column::number(heading)));
    columns.push(Column::number(spec.over));

    let ours = |measured: &&MeasuredFinding| {
        let (Finding { model, network, layer, n, .. }, finding) = (&measured.finding, &measured.finding);
        let mut cells = vec![TableCell::text(model), TableCell::text(network)];
        cells.extend(
            has_layers.then(|| layer.map_or(TableCell::text("all"), |layer| TableCell::count(u64::from(layer)))),
        );
        cells.extend(names.iter().map(|(name, _)| text(finding.named(name))));
        cells.push(TableCell::text("this run"));
        let value = |(name, _): &&(&str, _)| value(finding, name).with_sources([&measured.label]);
        cells.extend(values.iter().map(value));
        cells.push(TableCell::count(*n));
        vec![Row::ours(cells)]
    };
    let papers = |printed: &PrintedRow| {
        let named = |name: &str| text(printed.names.iter().find(|(of, _)| *of == name).map_or("", |(_, text)| text));
        let mut cells = vec![TableCell::text("GPT d768/l12"), TableCell::text("trained")];
        cells.extend(has_layers.then(|| named("layer")));
        cells.extend(names.iter().map(|(name, _)| named(name)));
        cells.push(TableCell::text("paper"));
        let value = |(name, _): &&(&str, _)| {
            printed.values.iter().find(|(of, _)| of == name).map_or(TableCell::none(), |(_, fact)| facts.cell(*fact))
        };
        cells.extend(values.iter().map(value));
        cells.push(TableCell::none());
        vec![Row { kind: RowKind::Paper, cells }]
    };
    Table {
        id: spec.id.to_owned(),
        title: spec.title.to_owned(),
        paper: spec.paper,
        caption: spec.caption.to_owned(),
        columns,
        groups: rows.iter().map(ours).collect(),
        not_run: if rows.is_empty() { Vec::new() } else { spec.printed.iter().map(papers).collect() },
        noun: "rows",
        folds: true,
        ..Table::default()
    }
}

fn text(text: &str) -> TableCell {
    if text.is_empty() { TableCell::none() } else { TableCell::text(text) }
}

fn value(finding: &Finding, name: &str) -> TableCell {
    finding.get(name).map_or(TableCell::none(), |value| {
        if name == SEEN_GAMES {
            return TableCell::count(value as u64);
        }
        let interval = finding.interval(name).map(|(low, high)| Interval::new(low, high, short, 1.0));
        TableCell::number(value, short(value)).with_interval(interval)
    })
}

/// Four decimals; small numbers as powers of ten, large ones with one decimal.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        size if size != 0.0 && size < 5e-4 => number::power_of_ten(value),
        size if size >= 1000.0 => number::decimals(value, 1),
        _ => number::decimals(value, 4),
    }
}
