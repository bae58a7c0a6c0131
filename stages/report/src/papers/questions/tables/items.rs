//! The numbers of tasks, items and positions.

use cwm_page::{Column, PaperComparison, Table, TableCell, comparison_rows};

use crate::papers::questions::facts::Facts;
use crate::papers::questions::id;
use crate::papers::questions::measured::Measurements;

/// Figure 2.
pub(crate) fn items(measured: &Measurements, facts: &Facts) -> Table {
    let groups = measured.categories().into_iter().map(|category| {
        let of_category = || measured.items.iter().filter(|(_, count)| count.category == category);
        let labels: Vec<&String> = of_category().map(|(label, _)| label).collect();
        let printed = |column| facts.get(&category, column);
        let numbers = [
            (of_category().count() as u64, printed("tasks")),
            (of_category().map(|(_, count)| count.items).sum(), printed("items")),
            (of_category().map(|(_, count)| count.positions).sum(), None),
        ];
        let numbers = numbers.map(|(number, fact)| {
            PaperComparison::count(TableCell::count(number).with_sources(labels.iter().copied()), fact)
        });
        comparison_rows(&[TableCell::text(&category)], Some("this run"), &numbers)
    });
    let mut columns = vec![Column::text("Category").naming_rows(), Column::text("Source")];
    columns.extend(["Tasks", "Items", "Positions"].map(Column::number));
    Table {
        id: id("items"),
        title: "Items by category".into(),
        paper: Some("Figure 2, Section 3"),
        caption: "Tasks, items, and different inputs within each task. The figure has the items of each task.".into(),
        columns,
        groups: groups.collect(),
        noun: "categories",
        ..Table::default()
    }
}
