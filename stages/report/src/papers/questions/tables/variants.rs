//! The effect of one change of the settings of runs: context and examples, or reasoning.

use cwm_answers::PlayerSettings;
use cwm_page::{Column, PaperComparison, PrintedValue, Table, TableCell, comparison_rows, number};

use super::{accuracy, points, with_source};
use crate::papers::fact_fields::is_named;
use crate::papers::questions::facts::{Facts, GAIN, OVERALL, VARIANTS};
use crate::papers::questions::id;
use crate::papers::questions::measured::{MeasuredRun, Measurements};

/// Context, group of examples, and the name of both. The first is the base; the first three are the paper's.
const PROMPT_VARIANTS: [((&str, u64), &str); 6] = [
    (("none", 1), "Base"),
    (("none", 2), "ΔExample"),
    (("pieces_moves", 1), "+PieceArr"),
    (("pieces", 1), "+Pieces alone"),
    (("pieces_moves", 2), "+PieceArr, ΔExample"),
    (("pieces", 2), "+Pieces alone, ΔExample"),
];

/// Table 4.
pub(crate) fn context(measured: &Measurements, facts: &Facts) -> Table {
    // Runs that differ in nothing but context and examples.
    let mut kinds: Vec<Vec<&MeasuredRun>> = Vec::new();
    for run in &measured.runs {
        match kinds.iter_mut().find(|kind| is_like(kind[0], run)) {
            Some(kind) => kind.push(run),
            None => kinds.push(vec![run]),
        }
    }
    kinds.retain(|kind| kind.len() > 1);
    let find = |kind: &[&'_ MeasuredRun], way: (&str, u64)| kind.iter().position(|run| run.variant() == way);
    let is_used = |(place, (way, _)): &(usize, &((&str, u64), &str))| {
        *place < VARIANTS.len() || kinds.iter().any(|kind| find(kind, *way).is_some())
    };
    let ways: Vec<_> = PROMPT_VARIANTS.iter().enumerate().filter(is_used).collect();
    let printed = |run: &str| {
        ways.iter().map(|(place, _)| VARIANTS.get(*place).and_then(|column| facts.get(run, column))).collect::<Vec<_>>()
    };
    let papers = facts.runs(&VARIANTS);
    let mut compared = Vec::new();
    let groups = kinds.iter().map(|kind| {
        let name = kind[0].starred();
        let is_published = kind[0].given() == "fen" && measured.is_published(kind[0], None);
        let run = papers.iter().find(|run| is_published && is_named(run, &name));
        compared.extend(run.copied());
        let facts = run.map_or(vec![None; ways.len()], |run| printed(run));
        let base = find(kind, PROMPT_VARIANTS[0].0).map(|at| kind[at]);
        let runs: Vec<_> = ways.iter().map(|(_, (way, _))| find(kind, *way).map(|at| kind[at])).collect();
        let mut numbers: Vec<_> =
            runs.iter().zip(facts).map(|(run, fact)| comparison(accuracy_of(*run), fact)).collect();
        numbers.extend(runs.iter().skip(1).map(|run| {
            let difference = base.zip(*run).and_then(|(base, run)| Some((run, measured.pair(run, base)?.1)));
            PaperComparison::without_paper(
                difference.map_or(TableCell::none(), |(run, points_of)| of_one(run, points(points_of))),
            )
        }));
        comparison_rows(&[TableCell::text(&name)], Some("this run"), &numbers)
    });
    let groups: Vec<_> = groups.collect();
    let alone = papers.iter().filter(|run| !groups.is_empty() && !compared.contains(run)).map(|run| {
        let mut numbers: Vec<_> = printed(run).into_iter().map(|fact| comparison(TableCell::none(), fact)).collect();
        numbers.extend(ways.iter().skip(1).map(|_| PaperComparison::without_paper(TableCell::none())));
        comparison_rows(&[TableCell::text(*run)], None, &numbers)
    });
    let not_run = alone.collect();
    let mut columns = vec![Column::text("Run").naming_rows(), Column::text("Source")];
    columns.extend(ways.iter().map(|(_, (_, name))| Column::number(name)));
    columns.extend(
        ways.iter().skip(1).map(|(_, (_, name))| Column::number(name).under("Less Base").with_over_key("less_base")),
    );
    Table {
        id: id("context"),
        title: "What prompts change".into(),
        paper: Some("Table 4, Appendix B"),
        caption: "Accuracy over all items in percent, of runs that differ in nothing but their prompts: with the second example of the answer's \
                  form (ΔExample), with the pieces and all legal moves (+PieceArr). Differences are in points, paired by item, with 95 % \
                  intervals. The context gives away the answers of `legal_move_all`; state tracking and Semantic have none."
            .into(),
        columns,
        groups,
        not_run,
        noun: "runs",
        ..Table::default()
    }
}

fn is_like(one: &MeasuredRun, other: &MeasuredRun) -> bool {
    let asked = |run: &MeasuredRun| PlayerSettings { context: None, examples: None, ..run.settings.clone() };
    one.label == other.label && asked(one) == asked(other)
}

fn accuracy_of(run: Option<&MeasuredRun>) -> TableCell {
    run.map_or(TableCell::none(), |run| of_one(run, accuracy(&run.overall)))
}

fn of_one(run: &MeasuredRun, cell: TableCell) -> TableCell {
    with_source(run, [cell]).remove(0)
}

fn comparison<'f>(ours: TableCell, fact: Option<&'f PrintedValue>) -> PaperComparison<'f> {
    PaperComparison::new(ours, fact, number::two_decimals)
}

/// Pairs with and without reasoning.
pub(crate) fn reasoning(measured: &Measurements, facts: &Facts) -> Table {
    let runs = &measured.runs;
    let without = runs.iter().filter(|run| run.reasoning() == "none");
    let pairs = without.flat_map(|plain| {
        let is_pair = move |other: &&MeasuredRun| {
            let is_like = other.settings.name == plain.settings.name && other.given() == plain.given();
            is_like && other.variant() == plain.variant() && other.reasoning() != "none"
        };
        runs.iter().filter(is_pair).filter_map(move |other| Some((plain, other, measured.pair(other, plain)?.1)))
    });
    let pairs: Vec<_> = pairs.collect();
    let rows = pairs.iter().map(|(plain, other, gain)| {
        let fact = |run: &MeasuredRun| {
            let name = run.paper_name().filter(|_| measured.is_published(run, None))?;
            facts.get(&name, OVERALL)
        };
        let [without, with] = [plain, other].map(|run| comparison(accuracy_of(Some(run)), fact(run)));
        let numbers = [without, with, PaperComparison::without_paper(of_one(other, points(*gain)))];
        comparison_rows(&[TableCell::text(&plain.name), TableCell::text(other.reasoning())], Some("this run"), &numbers)
    });
    let (mut groups, mut not_run) = (rows.collect::<Vec<_>>(), Vec::new());
    let [row, column] = GAIN;
    if !pairs.is_empty() {
        let gains = pairs.iter().map(|(_, _, [gain, ..])| gain * 100.0);
        let mean = gains.sum::<f64>() / pairs.len() as f64;
        let text = number::signed(mean, number::two_decimals);
        let labels = pairs.iter().map(|(plain, ..)| &plain.label);
        let mean = TableCell::number(mean, text).with_sources(labels);
        let none = || PaperComparison::without_paper(TableCell::none());
        let (head, printed) = ([TableCell::text(row), TableCell::text("")], facts.get(row, column));
        let is_published = pairs.iter().all(|(plain, ..)| measured.is_published(plain, None));
        let numbers = [none(), none(), comparison(mean, printed.filter(|_| is_published))];
        groups.push(comparison_rows(&head, Some("this run"), &numbers));
        if !is_published {
            not_run.push(comparison_rows(&head, None, &[none(), none(), comparison(TableCell::none(), printed)]));
        }
    }
    let mut columns = ["Run", "Effort"].map(|name| Column::text(name).naming_rows()).to_vec();
    columns.push(Column::text("Source"));
    columns.extend(["Without (%)", "With (%)", "Gain"].map(Column::number));
    Table {
        id: id("reasoning"),
        title: "What reasoning gains".into(),
        paper: Some("Section 4.2"),
        caption: "Accuracy over all items of pairs of runs that differ in reasoning (and in the tokens allowed), and the gain in points, paired \
                  by item, with its 95 % interval."
            .into(),
        columns,
        groups,
        not_run,
        noun: "pairs",
        ..Table::default()
    }
}
