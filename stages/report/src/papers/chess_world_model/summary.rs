//! The first lines of the page: a sentence about the models, their training sets and their test sets.

use std::collections::BTreeSet;

use cwm_page::number;

use crate::papers::chess_world_model::model::{Model, family_name};
use crate::papers::chess_world_model::results::Results;
use crate::papers::chess_world_model::tables::worse_than_chance_warning;
use crate::papers::chess_world_model::test_set::TestSet;

/// Returns the sentence, in words that need no explanation.
pub(crate) fn summary_sentence(results: &Results) -> String {
    if results.models.is_empty() {
        return "This page shows the games of a benchmark: how many were read, kept and split. No model was scored."
            .to_owned();
    }
    let trainings = &results.trainings;
    let models: BTreeSet<&Model> = trainings.iter().map(|training| &training.model).collect();
    let families: BTreeSet<&str> = models.iter().map(|model| model.family.as_str()).collect();
    let verb = if models.len() == 1 { "knows" } else { "know" };
    let models = match families.iter().collect::<Vec<_>>().as_slice() {
        [family] => number::plural(models.len(), &format!("{} model", family_name(family))),
        families => format!("{} of {} families", number::plural(models.len(), "model"), families.len()),
    };
    format!(
        "This page shows how well {models} ({}{}) {verb} the whole position after every move of a chess game from the \
         game's moves alone, on {}.",
        number::plural(trainings.len(), "training"),
        learned(results),
        tested(results)
    )
}

/// Returns the source of the numbers beside ours, and how far they can be compared. Games and passes are those of
/// Sections 2.5 and 3.3.
pub(crate) fn comparison_note(results: &Results) -> &'static str {
    match results.labels.is_empty() {
        true => "Beside our numbers stand those of Walker and Lyons, Chess-World-Model (arXiv 2605.30100).",
        false => {
            "Beside ours stand the figures of Walker and Lyons, Chess-World-Model (arXiv 2605.30100), where family and \
             size are theirs. Their models learned from ten million games, four passes over them; where ours learned from less, \
             differences show that first. What was not run here is shown as such."
        }
    }
}

/// Returns the warnings that a reader should see before any number.
pub(crate) fn warnings(results: &Results) -> Vec<String> {
    [diverged(results), worse_than_chance_warning(results)].into_iter().flatten().collect()
}

/// Returns the warning of trainings that diverged, if any did.
fn diverged(results: &Results) -> Option<String> {
    let diverged = results.trainings.iter().filter(|training| training.diverged).count();
    let all = number::plural(results.trainings.len(), "training");
    (diverged > 0).then(|| {
        format!(
            "{diverged} of {all} diverged: after too many steps without a finite loss it ended early, and its last good \
             weights were tested. The tables show where."
        )
    })
}

/// `, each 3 passes over 3,762 games`, as far as that is known of every training.
fn learned(results: &Results) -> String {
    let each = if results.trainings.len() == 1 { "" } else { "each " };
    let known = |read: fn(&crate::papers::chess_world_model::training::Training) -> Option<f64>| -> Option<Vec<f64>> {
        results.trainings.iter().map(read).collect()
    };
    let games = known(|training| training.games.map(|games| games as f64));
    let passes = known(|training| training.epochs);
    let games = games.and_then(|games| range(&games)).map(|games| format!("{games} games"));
    let passes = passes.and_then(|passes| range(&passes)).map(|passes| match passes.as_str() {
        "1" => "1 pass".to_owned(),
        _ => format!("{passes} passes"),
    });
    match (passes, games) {
        (Some(passes), Some(games)) => format!(", {each}{passes} over {games}"),
        (None, Some(games)) => format!(", {each}on {games}"),
        (Some(passes), None) => format!(", {each}{passes} over its games"),
        (None, None) => String::new(),
    }
}

/// `222 games kept out of training, 100 games of random legal moves and 2 further sets of 60 games (castling, en passant)`.
fn tested(results: &Results) -> String {
    let games = |index: usize| {
        let scored = results.overall.iter().filter(|((_, at), _)| *at == index);
        scored.map(|(_, overall)| overall.games).max().unwrap_or(0)
    };
    let games_of = |number: &str| format!("{number} {}", if number == "1" { "game" } else { "games" });
    let mut sets = Vec::new();
    let mut further: Vec<(String, f64)> = Vec::new();
    for (index, test) in results.tests.iter().enumerate() {
        let number = games_of(&number::count(games(index)));
        match test {
            TestSet::HeldOut => sets.push(format!("{number} kept out of training")),
            TestSet::RandomUniform => sets.push(format!("{number} of random legal moves")),
            TestSet::Other(_) => further.push((test.phrase(), games(index) as f64)),
        }
    }
    let (names, numbers): (Vec<String>, Vec<f64>) = further.into_iter().unzip();
    if let Some(number) = range(&numbers) {
        let sets_of =
            if names.len() == 1 { "1 further set".to_owned() } else { format!("{} further sets", names.len()) };
        sets.push(format!("{sets_of} of {} ({})", games_of(&number), names.join(", ")));
    }
    match sets.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        sets => sets.concat(),
    }
}

/// `3`, or `1 to 3`; at most two decimals.
fn range(values: &[f64]) -> Option<String> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let print = |value: f64| match value.fract() == 0.0 {
        true => number::count(value as u64),
        false => format!("{value:.2}"),
    };
    Some(if low == high { print(low) } else { format!("{} to {}", print(low), print(high)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::chess_world_model::training::Training;

    fn training(size: &str, games: Option<u64>, epochs: Option<f64>, diverged: bool) -> Training {
        Training { model: Model::new("e", "slice", size), seed: None, diverged, games, epochs }
    }

    fn results(trainings: Vec<Training>) -> Results {
        let models = trainings.iter().map(|training| training.model.clone()).collect();
        Results { models, trainings, tests: vec![TestSet::Other("endgames".into())], ..Results::default() }
    }

    #[test]
    fn what_is_known_of_the_trainings_is_reported() {
        let check = |trainings: Vec<Training>, said: &str| {
            let sentence = summary_sentence(&results(trainings));
            assert!(sentence.starts_with(&format!("This page shows how well {said} the whole position")), "{sentence}");
            assert!(sentence.ends_with("on 1 further set of 0 games (endgames)."), "{sentence}");
        };
        let one = |games, epochs| vec![training("d8/l1", games, epochs, false)];
        check(one(Some(3_762), Some(3.0)), "1 SLiCE model (1 training, 3 passes over 3,762 games) knows");
        check(one(Some(3_762), Some(1.0)), "1 SLiCE model (1 training, 1 pass over 3,762 games) knows");
        check(one(Some(9), None), "1 SLiCE model (1 training, on 9 games) knows");
        check(one(None, Some(0.25)), "1 SLiCE model (1 training, 0.25 passes over its games) knows");
        check(one(None, None), "1 SLiCE model (1 training) knows");
        let two = |size| vec![training("d8/l1", Some(9), Some(1.0), false), training(size, Some(90), Some(2.5), false)];
        check(two("d8/l1"), "1 SLiCE model (2 trainings, each 1 to 2.50 passes over 9 to 90 games) knows");
        let mut mixed = two("d9/l1");
        mixed[1].model.family = "mamba3".into();
        check(mixed, "2 models of 2 families (2 trainings, each 1 to 2.50 passes over 9 to 90 games) know");
        check(two("d9/l1"), "2 SLiCE models (2 trainings, each 1 to 2.50 passes over 9 to 90 games) know");
    }

    #[test]
    fn games_alone_are_shown_as_such() {
        assert!(summary_sentence(&Results::default()).ends_with("No model was scored."));
    }

    #[test]
    fn a_training_that_diverged_is_reported() {
        let trainings = |diverged| vec![training("d8/l1", None, None, false), training("d9/l1", None, None, diverged)];
        assert_eq!(warnings(&results(trainings(false))), [""; 0]);
        let warnings = warnings(&results(trainings(true)));
        assert!(matches!(&warnings[..], [one] if one.starts_with("1 of 2 trainings diverged:")), "{warnings:?}");
    }
}
