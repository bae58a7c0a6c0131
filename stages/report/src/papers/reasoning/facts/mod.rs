//! The paper's numbers, and settings of the authors' code.
//!
//! `reasoning.csv` has a fact a row: `source` (a table, a figure, the text or the authors' code), `row`, `column`, `value` as
//! printed, `unit` (`lost` where our copy of the text has no number) and `section`.

use cwm_page::{Column, PrintedValue, Row, RowKind, Table, TableCell, number};

use super::measured::Phase;
use crate::papers::fact_fields::{fields, is_named};

const FACTS: &str = include_str!("reasoning.csv");

/// The tables of the facts that are compared with runs.
const OF_RUNS: [&str; 2] = ["table_1", "table_2"];

/// A fact.
struct Fact {
    source: &'static str,
    row: &'static str,
    column: &'static str,
    unit: &'static str,
    section: &'static str,
    /// A number, or words where it is none.
    printed: PrintedValue,
}

/// All of them, in the order of the file.
pub(super) struct Facts(Vec<Fact>);

impl Facts {
    /// Reads the facts that are part of this crate. Lines that are no facts are left out; a test counts them.
    pub(super) fn load() -> Self {
        let fact = |line: &'static str| {
            let [source, row, column, value, unit, section] = fields(line).try_into().ok()?;
            let number = value.parse().unwrap_or(f64::NAN);
            let printed = PrintedValue { table: source.to_owned(), text: value.to_owned(), value: number };
            Some(Fact { source, row, column, unit, section, printed })
        };
        Facts(FACTS.lines().skip(1).filter_map(fact).collect())
    }

    /// The number of a model in a column of Table 1 or 2.
    pub(super) fn get(&self, model: &str, column: &str) -> Option<&PrintedValue> {
        self.fact(model, column).map(|fact| &fact.printed)
    }

    /// Returns [`Facts::get`] of a column that exists twice, before and after reinforcement learning; `column` is
    /// its name without its ending. The number of a model that was not trained stands under SFT.
    pub(super) fn of_phase(&self, model: &str, column: &str, phase: Phase) -> Option<&PrintedValue> {
        self.fact_of_phase(model, column, phase).map(|fact| &fact.printed)
    }

    /// Returns `of_phase` as a number from 0 to 1, whatever its printed unit.
    pub(super) fn share(&self, model: &str, column: &str, phase: Phase) -> Option<f64> {
        let fact = self.fact_of_phase(model, column, phase)?;
        let whole = match fact.unit {
            "percent" => 100.0,
            "points_of_10" => 10.0,
            _ => 1.0,
        };
        Some(fact.printed.value / whole)
    }

    fn fact(&self, model: &str, column: &str) -> Option<&Fact> {
        let is = |fact: &&Fact| OF_RUNS.contains(&fact.source) && fact.row == model && fact.column == column;
        self.0.iter().find(is)
    }

    fn fact_of_phase(&self, model: &str, column: &str, phase: Phase) -> Option<&Fact> {
        let of_phase = self.fact(model, &format!("{column}{}", phase.ending()));
        of_phase.or_else(|| self.fact(model, column).filter(|_| phase == Phase::Before))
    }

    /// Models of Table 1, in its order.
    pub(super) fn models(&self) -> Vec<&'static str> {
        let mut models: Vec<&'static str> = Vec::new();
        for fact in self.0.iter().filter(|fact| fact.source == OF_RUNS[0]) {
            if !models.contains(&fact.row) {
                models.push(fact.row);
            }
        }
        models
    }

    /// The model of Table 1 with this name, compared by [`is_named`].
    pub(super) fn model(&self, name: &str) -> Option<&'static str> {
        self.models().into_iter().find(|model| is_named(model, name))
    }

    /// Table 3.
    pub(super) fn judges(&self) -> Table {
        let caption = "Correlation of the judge's scores with those of two chess experts, as printed.";
        self.list("table_3", "table-3", "Judge and experts", Some("Table 3, Appendix G"), caption)
    }

    /// Tables 4 and 5.
    pub(super) fn parameters(&self) -> [Table; 2] {
        let caption = "As printed; numbers that were pictures are lost in our copy. Ours stand in the pipeline.";
        [
            self.list("table_4", "table-4", "Parameters of fine-tuning", Some("Table 4, Appendix H"), caption),
            self.list(
                "table_5",
                "table-5",
                "Parameters of reinforcement learning",
                Some("Table 5, Appendix H"),
                caption,
            ),
        ]
    }

    /// The numbers of the text, which stand beside none of ours.
    pub(super) fn words(&self) -> Table {
        let caption = "Numbers of the paper's text, as printed.";
        self.list("text", "words", "What the paper has in words", None, caption)
    }

    /// The settings of the authors' code.
    pub(super) fn settings(&self) -> Table {
        let caption = "Settings of the authors' public code, from which parameters were taken that the paper lacks. They are no results.";
        self.list("authors_code", "settings", "Settings of the authors' code", None, caption)
    }

    fn list(&self, source: &str, id: &str, title: &str, paper: Option<&'static str>, caption: &str) -> Table {
        let row = |fact: &Fact| {
            let words = |text: &str| TableCell::text(text.replace('_', " "));
            let mut cells = vec![words(fact.row), words(fact.column), cell(fact)];
            cells.extend([words(fact.unit), TableCell::text(fact.section)]);
            vec![Row { kind: RowKind::Paper, cells }]
        };
        let mut columns = ["Of", "What"].map(|name| Column::text(name).naming_rows()).to_vec();
        columns.extend([Column::number("Value"), Column::text("Unit"), Column::text("Place")]);
        Table {
            id: super::id(id),
            title: title.to_owned(),
            paper,
            caption: caption.to_owned(),
            columns,
            not_run: self.0.iter().filter(|fact| fact.source == source).map(row).collect(),
            folds: true,
            ..Table::default()
        }
    }
}

fn cell(Fact { unit, printed, .. }: &Fact) -> TableCell {
    match (*unit, printed.value.is_finite()) {
        ("lost", _) => TableCell::none(),
        (_, true) => TableCell::number(printed.value, number::printed(&printed.text)),
        (_, false) => TableCell::text(&printed.text),
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::testing::shared;

    use super::*;

    /// The files of the folder from which the facts were taken, one after the other.
    #[test]
    fn the_file_is_the_shared_ones() {
        assert_eq!(Facts::load().0.len(), FACTS.lines().count() - 1);
        let Some(folder) = shared("systems/reasoning-paper") else { return };
        let file = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.csv")));
        let names = ["text", "figure-2", "table-1", "table-2", "table-3", "tables-4-5", "authors-code"];
        let mut all = String::new();
        for name in names {
            let text = file(name).unwrap();
            all += if all.is_empty() { &text } else { text.split_once('\n').unwrap().1 };
        }
        assert_eq!(all, FACTS);
    }

    /// So Figure 2 can be drawn of the tables, which have more models.
    #[test]
    fn the_numbers_of_figure_2_are_those_of_the_tables() {
        let facts = Facts::load();
        let of_figure: Vec<&Fact> = facts.0.iter().filter(|fact| fact.source == "figure_2").collect();
        assert_eq!(of_figure.len(), 25);
        for Fact { row, column, printed, .. } in of_figure {
            let ends = [("_sft", Phase::Before), ("_rl", Phase::After)];
            let of_end = ends.iter().find_map(|(end, phase)| Some((row.strip_suffix(*end)?, *phase)));
            let (model, phase) = of_end.unwrap_or((*row, Phase::Before));
            assert_eq!(facts.share(model, column, phase), Some(printed.value), "{row}, {column}");
        }
    }

    #[test]
    fn numbers_are_found_by_model_and_column() {
        let facts = Facts::load();
        let value = |row, column| facts.get(row, column).map(|printed| (printed.text.as_str(), printed.value));
        assert_eq!(value("sft6_bm", "predict_rank_rl"), Some(("0.71", 0.71)));
        assert_eq!(value("llama_4_maverick", "best_accuracy"), Some(("27", 27.0)));
        let share = |model, column, phase| facts.share(model, column, phase);
        assert_eq!(share("sft6_bm", "best_accuracy", Phase::After), Some(0.37));
        assert_eq!(share("llama_4_maverick", "best_accuracy", Phase::Before), Some(0.27));
        assert_eq!(share("llama_4_maverick", "best_accuracy", Phase::After), None);
        assert_eq!(share("sft6_bm", "reasoning_quality", Phase::Before), Some(0.53));
        assert_eq!(facts.models().len(), 15);
        assert_eq!(facts.model("Llama-4-Maverick"), Some("llama_4_maverick"));
        assert_eq!(facts.model("best_move"), None);
    }
}
