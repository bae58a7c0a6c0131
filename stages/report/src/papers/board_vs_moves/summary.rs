//! The first lines of the chapter.

use cwm_rating::{Rating, likeliest};

use super::Measurements;
use super::facts::Facts;
use super::groups::{Kind, members};
use super::play::{Opponent, Played, Results};

/// The source of the numbers beside ours.
pub(crate) const COMPARISON_NOTE: &str = "Beside our numbers stand those of \"Causal Masking on Spatial Data\" (arXiv 2510.27009), as printed, and those of its \
     authors' repository, which are no facts of the paper. The paper's own comparison is not controlled: its models of boards learn \
     ChessBench's labels, the one of movetexts the moves of another corpus, and the masked model has 25 times the parameters and was \
     pretrained. So its rows and the controlled ones, which have the same games and labels, are kept apart in every table.";

/// What was compared, in a sentence or two.
pub(crate) fn sentence(measured: &Measurements) -> String {
    let arms: Vec<String> = {
        let mut names: Vec<String> = members(&measured.groups).map(|member| member.name()).collect();
        names.extend(measured.played.iter().map(|played| played.arm.full_name()));
        names.sort();
        names.dedup();
        names
    };
    let positions: usize = measured.groups.iter().map(|group| group.compared.asked.len()).sum();
    let games: usize = measured.played.iter().flat_map(|played| played.against.values()).map(Vec::len).sum();
    let plural = |number: usize, one: &str| {
        format!("{} {one}{}", cwm_page::number::count(number as u64), if number == 1 { "" } else { "s" })
    };
    format!(
        "Is the board or the list of moves the better input for the best move in chess, and what does a causal mask cost? This page \
         compares {}, on {} and in {}.",
        plural(arms.len(), "player"),
        plural(positions, "position"),
        plural(games, "game")
    )
}

/// What a reader should know before any number.
pub(crate) fn warnings(measured: &Measurements) -> Vec<String> {
    let mut warnings = Vec::new();
    let controlled = || members(&measured.groups).filter(|member| member.group.kind == Kind::Controlled);
    if controlled().next().is_some() && controlled().all(|member| member.measured().labels.len() == 1) {
        warnings.push(
            "Each arm was trained with one seed. Intervals are over games, so a difference may be one of seeds."
                .to_owned(),
        );
    }
    let facts = Facts::load();
    let lost: Vec<String> =
        measured.played.iter().filter(|played| is_bound(played, &facts)).map(|played| played.arm.full_name()).collect();
    if !lost.is_empty() {
        warnings.push(format!(
            "Against rated levels all games of {} were lost, or all won: their ratings are bounds and no estimates.",
            cwm_page::visible(&lost.join(", "))
        ));
    }
    warnings
}

fn is_bound(played: &Played, facts: &Facts) -> bool {
    let levels = played.against.iter().filter_map(|(opponent, games)| match opponent {
        Opponent::Level(level) => Some(Results::of(games).at(facts.level(*level)?)),
        Opponent::Other(_) => None,
    });
    matches!(likeliest(&levels.collect::<Vec<_>>()), Ok(Rating::Below(_) | Rating::Above(_)))
}
