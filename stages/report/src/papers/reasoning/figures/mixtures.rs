//! Tokens by data set.

use cwm_page::{COLOURS, Figure, LegendEntry, Style, escape_controls};

use super::BAR;
use crate::papers::drawing::{row, stacked};
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::Measurements;

/// Figure 15.
pub(crate) fn mixtures(measured: &Measurements) -> Figure {
    let mut sources: Vec<String> = Vec::new();
    for source in measured.mixtures.iter().flat_map(|(.., mixture)| &mixture.sources) {
        if source.tokens > 0 && !sources.contains(&escape_controls(&source.source)) {
            sources.push(escape_controls(&source.source));
        }
    }
    let parts: Vec<(&str, usize)> =
        sources.iter().enumerate().map(|(nth, name)| (name.as_str(), nth % COLOURS)).collect();
    let bars = measured.mixtures.iter().map(|(name, _, mixture)| {
        let tokens = |wanted: &String| {
            let of_name = mixture.sources.iter().filter(|source| escape_controls(&source.source) == *wanted);
            of_name.map(|source| source.tokens).sum()
        };
        (name.clone(), sources.iter().map(tokens).collect())
    });
    let bars: Vec<(String, Vec<u64>)> = bars.collect();
    if bars.is_empty() {
        return Figure::default();
    }
    let legend =
        parts.iter().map(|(name, colour)| LegendEntry { name: (*name).to_owned(), style: Style::solid(*colour) });
    Figure {
        id: id("mixtures"),
        title: "Tokens by data set".into(),
        paper: Some("Figure 15, Appendix E"),
        description: "Shares of the tokens of each mix that are of each data set, in percent.".into(),
        legend: legend.collect(),
        rows: vec![row(
            String::new(),
            BAR * bars.len() as u32 + BAR,
            1,
            vec![stacked("", "Tokens (%)", &parts, &bars)],
        )],
    }
}
