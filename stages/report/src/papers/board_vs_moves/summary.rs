//! The first lines of the chapter.

use std::collections::BTreeSet;

use cwm_page::number::{count, plural};
use cwm_rating::{Rating, likeliest};

use super::Measurements;
use super::facts::Facts;
use super::groups::{Group, Kind, Member, members};
use super::play::{ArmGames, Opponent, Results};
use super::tables::{MASKS, answers_in_several_tokens};

/// The source of the numbers beside ours.
pub(crate) const COMPARISON_NOTE: &str = "Beside our numbers stand those of \"Causal Masking on Spatial Data\" (arXiv 2510.27009), as printed, and those of its \
     authors' repository, which are no facts of the paper. The paper's own comparison is not controlled: its models of boards learn \
     ChessBench's labels, the one of movetexts the moves of another corpus, and the masked model has 25 times the parameters and was \
     pretrained. So its rows and the controlled ones, which have the same games and labels, are kept apart in every table of positions, \
     and games by the paper's rules and by ours in every table of games.";

/// The step up to which the causal board is level or ahead in the logs of the authors' repository.
const MASK_CROSSOVER_STEP: u64 = 60_000;

/// Returns the question of the chapter and the numbers of players, positions and games, in two sentences.
pub(crate) fn sentence(measured: &Measurements) -> String {
    let played = measured.played.iter().map(|played| played.arm.full_name());
    let arms = unique(members(&measured.groups).map(|member| member.name()).chain(played).collect());
    // Controlled rows and the paper's may be of the same positions.
    let asked = measured.groups.iter().flat_map(|group| {
        group.compared.positions.iter().map(move |asked| (group.test.as_str(), asked.record, asked.fen.as_str()))
    });
    let positions = asked.collect::<BTreeSet<_>>().len();
    let games: usize = measured.played.iter().flat_map(|played| played.games_by_opponent.values()).map(Vec::len).sum();
    format!(
        "Is the board or the list of moves the better input for the best move in chess, and what does a causal mask cost? This page \
         compares {}, on {} and in {}.",
        plural(arms.len(), "player"),
        plural(positions, "position"),
        plural(games, "game")
    )
}

/// Returns the warnings that a reader should see before any number.
pub(crate) fn warnings(measured: &Measurements) -> Vec<String> {
    let mut warnings = Vec::new();
    let diverged = members(&measured.groups).filter(|member| member.measured().diverged > 0);
    let diverged = unique(diverged.map(|member| member.name()).collect());
    if !diverged.is_empty() {
        warnings.push(format!(
            "Trainings of {} diverged: they ended early, and the weights from before were asked. The column `Source` shows \
             where.",
            diverged.join(", ")
        ));
    }
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
    let lost = unique(lost);
    if !lost.is_empty() {
        warnings.push(format!(
            "Against rated levels all games of {} were lost, or all won: their ratings are bounds and no estimates.",
            cwm_page::escape_controls(&lost.join(", "))
        ));
    }
    warnings.extend(limits(&measured.groups, &facts));
    warnings
}

/// Returns the conclusions that choices of these arms cannot support, whatever their numbers.
fn limits(groups: &[Group], facts: &Facts) -> Vec<String> {
    let mut limits = Vec::new();
    let has = |name: &str| members(groups).any(|member| member.measured().arm.name == name);
    let is_small = |member: Member| {
        let papers = facts.value("nanogpt", "parameters").map(|millions| millions * 1e6);
        member.measured().chooser.parameters.zip(papers).is_some_and(|(ours, papers)| (ours as f64) < papers)
    };
    let is_board = |member: &Member| MASKS.iter().any(|(name, _)| *name == member.measured().arm.name);
    let turns_later = |member: Member| member.measured().chooser.steps.is_some_and(|steps| steps < MASK_CROSSOVER_STEP);
    if MASKS.iter().all(|(name, _)| has(name)) && members(groups).filter(is_board).all(turns_later) {
        limits.push(format!(
            "Which mask is better cannot be shown here: in the logs of the paper's authors the order turns after some {} steps of 2,048 \
             positions, and these trainings end before.",
            count(MASK_CROSSOVER_STEP)
        ));
    }
    if has("moves/causal") && members(groups).any(|member| is_board(&member)) && members(groups).any(is_small) {
        limits.push(
            "Whether the board is better for best moves cannot be shown here: models smaller than the paper's know openings by heart, \
             which favours a list of moves. Legal answers late in the game show what it loses of the board."
                .to_owned(),
        );
    }
    if !groups.is_empty() && answers_in_several_tokens(groups).next().is_none() {
        limits.push(
            "Exposure bias cannot be shown here: no arm has answers of several tokens, as `prompt` and `characters` have."
                .to_owned(),
        );
    }
    limits
}

/// Sorted, each once.
fn unique(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

fn is_bound(played: &ArmGames, facts: &Facts) -> bool {
    let levels = played.games_by_opponent.iter().filter_map(|(opponent, games)| match opponent {
        Opponent::Level(level) => Some(Results::of(games).at(facts.level(*level)?)),
        Opponent::Other(_) => None,
    });
    matches!(likeliest(&levels.collect::<Vec<_>>()), Ok(Rating::Below(_) | Rating::Above(_)))
}
