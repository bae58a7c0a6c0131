//! Shares of verdicts.

use cwm_page::{Figure, LegendEntry, Style};

use super::BAR;
use crate::papers::drawing::{row, stacked};
use crate::papers::questions::id;
use crate::papers::questions::measured::Measurements;
use crate::papers::questions::tables::VERDICTS;

/// Figure 4.
pub(crate) fn verdicts(measured: &Measurements) -> Figure {
    let bars = measured.runs.iter().map(|run| {
        let counts = VERDICTS.map(|(.., count)| count(&run.overall));
        (run.name.clone(), counts.to_vec())
    });
    let bars: Vec<_> = bars.collect();
    let parts = VERDICTS.map(|(name, colour, _)| (name, colour));
    let legend = parts.map(|(name, colour)| LegendEntry { name: name.to_owned(), style: Style::solid(colour) });
    Figure {
        id: id("verdicts"),
        title: "What answers are".into(),
        paper: Some("Figure 4, Section 4.2"),
        description: "Shares of the verdicts on the answers of each run, in percent.".into(),
        rows: vec![row(
            String::new(),
            BAR * bars.len() as u32 + BAR,
            1,
            vec![stacked("", "Answers (%)", &parts, &bars)],
        )],
        legend: legend.into(),
    }
}
