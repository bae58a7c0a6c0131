//! "Exploring the Limits of Probes for Latent Representation Edits in GPT Models" (AI 2026, 7(3), 92): the board in a
//! model's layers, and edits of it.
//!
//! `measured` reads findings, `tables` lists the tables and `table` makes any of them, `figures` draws, `facts` are the
//! paper's numbers.

mod facts;
mod figures;
mod measured;
mod table;
mod tables;

use cwm_contract::{Context, Failure, Format, Input};
use cwm_page::{Block, Chapter, Section, number};

use crate::Config;
use crate::papers::Paper;
use facts::Facts;
use measured::MeasuredFinding;

/// The paper.
pub(crate) struct InsideModels;

impl Paper for InsideModels {
    fn title(&self) -> &'static str {
        "Inside models"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::optional_many("findings", Format::FINDINGS, "numbers measured inside models")]
    }

    fn chapter(&self, context: &Context, _config: &Config) -> Result<Option<Chapter>, Failure> {
        let found = measured::read(context.group("findings"))?;
        if found.is_empty() {
            return Ok(None);
        }
        let mut labels: Vec<String> = found.iter().map(|found| found.label.clone()).collect();
        labels.sort();
        labels.dedup();
        Ok(Some(Chapter {
            title: self.title().to_owned(),
            summary: summary(&found),
            warnings: warnings(&found),
            highlight: None,
            comparison_note: NOTE.to_owned(),
            sections: sections(&found, &Facts::load()),
            labels,
        }))
    }
}

/// The source of the numbers beside ours.
const NOTE: &str = "Beside our numbers stand those of \"Exploring the Limits of Probes for Latent Representation Edits in GPT Models\" \
     (AI 2026, 7(3), 92) and of its preprint, as printed in their texts; our copy lacks the numbers of Tables 2 to 6 and Figure 2. The \
     paper's model has 12 layers, 768 channels and 94 million games, so small models are not expected to reach its numbers.";

fn summary(found: &[MeasuredFinding]) -> String {
    let mut models: Vec<&str> = found.iter().map(|found| found.finding.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let plural = if found.len() == 1 { "" } else { "s" };
    format!(
        "What do the layers of a chess model hold of the board, is that board the same whichever way it was reached, and can one write \
         into it? This page has {} finding{plural} about {}.",
        number::count(found.len() as u64),
        models.join(", ")
    )
}

/// Returns the warnings that a reader should see before any number.
fn warnings(found: &[MeasuredFinding]) -> Vec<String> {
    let mut warnings = vec!["Each number is of one training, with one seed. Intervals are over games.".to_owned()];
    if found.iter().all(|found| found.finding.network == "trained") {
        warnings.push(
            "No untrained network was measured: how much of a linear probe's accuracy comes of training is not known."
                .to_owned(),
        );
    }
    warnings
}

/// Every section, whether anything was measured for it or not.
fn sections(found: &[MeasuredFinding], facts: &Facts) -> Vec<Section> {
    let table = |spec: &table::Spec| Block::Table(table::table(spec, found, facts));
    let probes = vec![
        Block::Figure(figures::accuracy(found)),
        table(&tables::PROBES),
        Block::Figure(figures::accuracy_squares(found)),
        table(&tables::LATENT_PROBES),
        Block::Figure(figures::composition(found)),
    ];
    let edits = vec![
        Block::Figure(figures::eta(found)),
        table(&tables::EDITS),
        table(&tables::STATE_EDITS),
        Block::Figure(figures::probes(found)),
        Block::Figure(figures::latents(found)),
        Block::Figure(figures::layers(found)),
        table(&tables::EDITS_BY_LAYER),
        Block::Figure(figures::squares(found)),
        Block::Figure(figures::cases(found)),
        table(&tables::CASES),
    ];
    let paper = vec![Block::Table(facts.words()), Block::Table(facts.settings())];
    let section = |id: &str, title, menu, blocks| Section::new(&format!("inside-{id}"), title, menu, blocks);
    vec![
        section("legality", "Legal words", "Legality", vec![table(&tables::LEGALITY)]),
        section("probes", "Boards read by linear probes", "Linear probes", probes),
        section("autoencoder", "Sparse autoencoders", "Autoencoders", vec![table(&tables::RECONSTRUCTION)]),
        section("alignment", "One board, several ways to it", "Path independence", vec![table(&tables::ALIGNMENT)]),
        section("writing", "Writing into the board", "Edits", edits),
        section("paper", "What the paper says in words", "The paper", paper),
    ]
}
