//! "Causal masking on spatial data" (arXiv 2510.27009): is a board or a list of moves the better input for the best move.
//!
//! `groups` puts arms on the same positions and keeps the paper's rows apart from the controlled ones, `play` gathers matches,
//! `curves` and `counts` read what training and data left, and `training` joins them; `boards` draws the positions that
//! `shown` picks; `tables` and `figures` define what is shown, `facts` are the paper's numbers.

mod boards;
mod common;
mod counts;
mod curves;
mod facts;
mod figures;
mod groups;
mod play;
mod shown;
mod summary;
mod tables;
mod training;

use cwm_contract::{Context, Failure, Format, Input};
use cwm_measures::ModelChoices;
use cwm_page::{Block, Chapter, Section};

use crate::Config;
use crate::papers::Paper;
use common::id;
use facts::Facts;

/// The paper.
pub(crate) struct BoardVsMoves;

/// The inputs of the chapter, read and grouped.
pub(crate) struct Measurements {
    groups: Vec<groups::Group>,
    played: Vec<play::ArmGames>,
    curves: Vec<curves::Curve>,
    counts: Vec<counts::CountedValue>,
}

impl Paper for BoardVsMoves {
    fn title(&self) -> &'static str {
        "Board against moves"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional_many("choices", Format::CHOICES, "moves that models chose, beside the best ones"),
            Input::optional_many("matches", Format::MATCHES, "games of models against others"),
            Input::optional_many("counts", Format::COUNTS, "numbers of games and positions"),
            Input::optional_many("curves", Format::CURVES, "curves that trainings recorded"),
        ]
    }

    fn chapter(&self, context: &Context, _config: &Config) -> Result<Option<Chapter>, Failure> {
        let runs = context.group("choices").iter().map(ModelChoices::read).collect::<Result<Vec<_>, _>>()?;
        context.check_cancelled()?;
        let measured = Measurements {
            groups: groups::gather(&runs)?,
            played: play::read(context.group("matches"))?,
            curves: curves::read(context.group("curves"), &runs)?,
            counts: counts::read(context.group("counts"))?,
        };
        if measured.groups.is_empty() && measured.played.is_empty() {
            return Ok(None);
        }
        let mut labels: Vec<String> = measured.groups.iter().flat_map(groups::Group::labels).collect();
        labels.extend(measured.played.iter().flat_map(|played| played.labels.iter().cloned()));
        labels.sort();
        Ok(Some(Chapter {
            title: self.title().to_owned(),
            summary: summary::sentence(&measured),
            warnings: summary::warnings(&measured),
            highlight: None,
            comparison_note: summary::COMPARISON_NOTE.to_owned(),
            sections: sections(&measured, &Facts::load())?,
            labels,
        }))
    }
}

/// Every section, whether anything was measured for it or not.
fn sections(measured: &Measurements, facts: &Facts) -> Result<Vec<Section>, Failure> {
    let Measurements { groups, played, curves, counts } = measured;
    let choices = vec![
        Block::Table(tables::arms(groups, counts, facts)),
        Block::Table(tables::differences(groups)),
        Block::Figure(figures::by_ply(groups)),
        Block::Table(tables::by_ply(groups)),
        Block::Table(tables::by_mobility(groups)),
        Block::Table(tables::seen(groups)),
    ];
    let answers = vec![Block::Figure(figures::exposure(groups)), Block::Table(tables::exposure(groups))];
    let masks = vec![Block::Figure(figures::masks(curves, facts)), Block::Table(tables::masks(curves, facts))];
    let play = vec![
        Block::Figure(figures::levels(played, facts)),
        Block::Table(tables::levels(played, facts)),
        Block::Table(tables::ratings(played, facts)),
        Block::Table(tables::table_3(played, facts)),
    ];
    let learning = vec![Block::Figure(figures::curves(curves)), Block::Table(tables::table_2(curves, counts, facts))];
    let data = vec![
        Block::Figure(figures::legal_moves(groups)),
        Block::Table(tables::legal_moves(groups)),
        Block::Table(tables::data(counts, played)),
    ];
    let mut positions: Vec<Block> = boards::boards(groups)?.into_iter().map(Block::Widget).collect();
    positions.push(Block::Table(tables::positions(groups)));
    // No section has the name of a table or figure: links would not tell them apart.
    Ok(vec![
        Section::new(&id("choices"), "Choosing the best move", "Best moves", choices),
        Section::new(&id("mask"), "With and without a causal mask", "Masks", masks),
        Section::new(&id("tokens"), "Answers of several tokens", "Exposure", answers),
        Section::new(&id("by-position"), "Position by position", "Positions", positions),
        Section::new(&id("play"), "Games and ratings", "Play", play),
        Section::new(&id("learning"), "Learning", "Learning", learning),
        Section::new(&id("counts"), "Data", "Data", data),
    ])
}
