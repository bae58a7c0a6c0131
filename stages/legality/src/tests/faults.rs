//! Inputs that cannot be measured.

use super::*;

fn refused(bench: &Bench, more: &[(&str, Value)]) -> Failure {
    bench.run_on(more, 2).err().expect("a failure")
}

#[test]
fn models_of_boards_and_of_another_family_are_refused() {
    let bench = Bench::new(&sample::games()[5..]).model(ModelTask::State, "gpt", "d32/l1", 1);
    let failure = refused(&bench, &[]);
    assert!(failure.message.starts_with("gpt d32/l1 answers with boards"), "{}", failure.message);
    let bench = Bench::new(&sample::games()[5..]).model(ModelTask::Moves, "gpt", "d32/l1", 1);
    let message = |name: &str| refused(&bench, &[("family", Value::Text(name.to_owned()))]).message;
    assert_eq!(message("slice"), "the checkpoint is of family `gpt`, but `family` is `slice`");
    assert!(message("none").starts_with("parameter `family` is unknown"));
}

#[test]
fn games_that_no_model_reads_are_errors_in_words() {
    let games = sample::games();
    let bench = Bench::new(&games[..1]).model(ModelTask::Moves, "gpt", "d32/l1", 1);
    let failure = refused(&bench, &[]);
    assert_eq!(failure.message, "no game can be read: 1 are too long, 0 are of other rules");
    let message = refused(&bench, &[("max_tokens", Value::Int(600))]).message;
    assert_eq!(message, "`max_tokens` is 600, and gpt d32/l1 reads 512 words at most");
    let mut wrong = games[4..].to_vec();
    wrong[1][3] = wrong[1][0];
    let bench = Bench::new(&wrong).model(ModelTask::Moves, "gpt", "d32/l1", 1);
    let message = refused(&bench, &[]).message;
    assert!(
        message.starts_with("game 1 (\"sample_0001\"): token") && message.ends_with("at ply 4 is not a legal move")
    );
}
