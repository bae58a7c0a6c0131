//! Tables of runs by category, the paper's numbers beneath ours.

use cwm_answers::Tally;
use cwm_page::{Column, PaperComparison, PrintedValue, Table, TableCell, comparison_rows, number};

use super::{accuracy, mean, with_source};
use crate::papers::fact_fields::is_named;
use crate::papers::questions::facts::{Facts, OVERALL, TOKENS};
use crate::papers::questions::id;
use crate::papers::questions::measured::{MeasuredRun, Measurements};

/// A column of numbers of runs.
pub(super) struct Numbers<'a> {
    pub(super) heading: Column,
    /// The category; `None` for all items.
    pub(super) category: Option<String>,
    /// The column of the facts.
    pub(super) fact: String,
    pub(super) ours: Box<dyn Fn(&MeasuredRun) -> TableCell + 'a>,
    /// Prints a difference.
    pub(super) print: fn(f64) -> String,
    /// True if the paper's numbers are approximate.
    pub(super) is_approximate: bool,
}

/// Figure 3.
pub(crate) fn categories(measured: &Measurements, facts: &Facts) -> Table {
    let ours = |tally: &Tally, category: Option<&str>| match category {
        None => accuracy(tally),
        Some(_) => accuracy(tally).without_printed_interval(),
    };
    let table = Table {
        id: id("categories"),
        title: "Accuracy by category".into(),
        paper: Some("Figure 3, Section 4.2"),
        caption: "Correct answers in percent, overall over all items, so that categories weigh by their numbers of items. In brackets 95 % \
                  intervals; those of categories are in the files."
            .into(),
        ..Table::default()
    };
    let columns = by_category(measured, |category| category.unwrap_or(OVERALL).to_owned(), ours, number::two_decimals);
    by_run(measured, facts, columns, |_| true, table)
}

/// Figure 7.
pub(crate) fn tokens(measured: &Measurements, facts: &Facts) -> Table {
    let fact = |category: Option<&str>| category.map_or(TOKENS.to_owned(), |category| format!("{TOKENS} {category}"));
    let ours = |tally: &Tally, _: Option<&str>| mean(tally.total_tokens, tally.with_tokens);
    let table = Table {
        id: id("tokens"),
        title: "Tokens an item".into(),
        paper: Some("Figure 7, Appendix B"),
        caption: "Mean number of tokens of prompt and completion, by the server's own count; of runs whose server counts them.".into(),
        ..Table::default()
    };
    let columns = by_category(measured, fact, ours, |value| number::decimals(value, 1));
    by_run(measured, facts, columns, |run| run.overall.total_tokens.is_some(), table)
}

/// A column over all items, and one for each category.
fn by_category<'a>(
    measured: &Measurements,
    fact: impl Fn(Option<&str>) -> String,
    ours: impl Fn(&Tally, Option<&str>) -> TableCell + Copy + 'a,
    print: fn(f64) -> String,
) -> Vec<Numbers<'a>> {
    let column = |category: Option<String>| Numbers {
        heading: Column::number(category.as_deref().unwrap_or("Overall")),
        fact: fact(category.as_deref()),
        ours: {
            let category = category.clone();
            Box::new(move |run| {
                run.tally(category.as_deref()).map_or(TableCell::none(), |tally| ours(tally, category.as_deref()))
            })
        },
        category,
        print,
        is_approximate: false,
    };
    std::iter::once(None).chain(measured.categories().into_iter().map(Some)).map(column).collect()
}

/// The table with a group for each run that `has` numbers, and the paper's runs that match none of ours.
pub(super) fn by_run(
    measured: &Measurements,
    facts: &Facts,
    columns: Vec<Numbers>,
    has: impl Fn(&MeasuredRun) -> bool,
    table: Table,
) -> Table {
    let names: Vec<&str> = columns.iter().map(|column| column.fact.as_str()).collect();
    let papers = facts.runs(&names);
    let of_paper = |run: &str| columns.iter().map(|column| facts.get(run, &column.fact)).collect::<Vec<_>>();
    let mut compared = Vec::new();
    let mut groups = Vec::new();
    for run in measured.runs.iter().filter(|run| has(run)) {
        let name = run.paper_name().unwrap_or_default();
        let is_like = |column: &Numbers| measured.is_published(run, column.category.as_deref());
        let printed: Vec<_> =
            columns.iter().zip(of_paper(&name)).map(|(column, fact)| fact.filter(|_| is_like(column))).collect();
        compared.extend(papers.iter().filter(|run| is_named(run, &name) && of_paper(run) == printed).copied());
        let cells = with_source(run, columns.iter().map(|column| (column.ours)(run)));
        let mut numbers = vec![PaperComparison::without_paper(TableCell::count(run.overall.items))];
        numbers
            .extend(columns.iter().zip(cells).zip(printed).map(|((column, ours), fact)| column.comparison(ours, fact)));
        groups.push(comparison_rows(&[TableCell::text(&run.name)], Some("this run"), &numbers));
    }
    let alone = papers.iter().filter(|run| !groups.is_empty() && !compared.contains(run)).map(|run| {
        let mut numbers = vec![PaperComparison::without_paper(TableCell::none())];
        let of_paper =
            columns.iter().zip(of_paper(run)).map(|(column, fact)| column.comparison(TableCell::none(), fact));
        numbers.extend(of_paper);
        comparison_rows(&[TableCell::text(*run)], None, &numbers)
    });
    let not_run = alone.collect();
    let mut headings = vec![Column::text("Run").naming_rows(), Column::text("Source"), Column::number("Items")];
    headings.extend(columns.iter().map(|column| column.heading.clone()));
    Table { columns: headings, groups, not_run, noun: "runs", folds: true, ..table }
}

impl Numbers<'_> {
    fn comparison<'f>(&self, ours: TableCell, fact: Option<&'f PrintedValue>) -> PaperComparison<'f> {
        let comparison = PaperComparison::new(ours, fact, self.print);
        if self.is_approximate { comparison.approximate() } else { comparison }
    }
}
