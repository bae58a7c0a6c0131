use super::*;

#[test]
fn there_is_one_model_and_parameters_are_those_of_its_kind() {
    let inputs = |given: &[&str]| Choose.check_inputs(given);
    assert_eq!(inputs(&["checkpoint"]), None);
    assert_eq!(inputs(&["choices", "games"]), None);
    assert!(inputs(&[]).unwrap().starts_with("has no model"));
    assert!(inputs(&["checkpoint", "choices"]).unwrap().starts_with("has two models"));
    let values = |given: &[(&str, Value)]| {
        let defaults = Choose.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        let mut values: Values = defaults.collect();
        values.extend(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        values
    };
    let problem = |given: &[(&str, Value)], inputs: &[&str]| Choose.check_inputs_for(&values(given), inputs);
    assert_eq!(problem(&[named("x")], &["choices"]), None);
    assert_eq!(problem(&[], &["checkpoint"]), None);
    assert_eq!(problem(&[], &["choices"]).unwrap(), "has `choices`, and needs a `name` for their model in `with:`");
    let message = problem(&[named("x")], &["checkpoint"]).unwrap();
    assert_eq!(message, "has a checkpoint, and `name` belongs to `choices`: a checkpoint has its own");
    let message = problem(&[named("x"), ("batch_tokens", Value::Int(9))], &["choices"]).unwrap();
    assert_eq!(message, "has `choices`, and `batch_tokens` belongs to a checkpoint: no model is computed");
}

#[test]
fn a_model_that_train_made_is_refused() {
    let bench = Bench::new();
    bench.model(Form::Board);
    let path = bench.path("checkpoint/model.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("\"vocabulary\": {", "\"of\": {");
    std::fs::write(path, text).unwrap();
    let failure = bench.failure(&[]);
    assert!(failure.message.contains("was not trained on sequences, and so chooses no move"), "{}", failure.message);
    assert_eq!(failure.hint.unwrap(), "the stage `learn` trains models that choose moves; `train` does not");
}

#[test]
fn forms_of_games_need_the_games() {
    let bench = Bench::new();
    std::fs::remove_dir_all(bench.path("games")).unwrap();
    bench.model(Form::Moves);
    let failure = bench.failure(&[]);
    assert_eq!(failure.message, "record 0 of the evaluations: the model reads games, and none is given");
    assert_eq!(failure.hint.unwrap(), "the input `games` has the games of the positions");
    bench.model(Form::Prompt);
    bench.run();
}

#[test]
fn games_of_another_corpus_are_named() {
    let bench = Bench::new();
    bench.model(Form::Moves);
    let games = |games: &[Vec<PlainMove>]| {
        std::fs::remove_dir_all(bench.path("games")).unwrap();
        sample::write_games(&bench.path("games"), games).unwrap();
        bench.failure(&[]).message
    };
    let short = short_games();
    assert!(games(&short[..2]).starts_with("game 2 (\"sample_0002\") of the evaluations, record "));
    let message = games(&[short[1].clone(), short[0].clone(), short[2].clone()]);
    assert!(message.starts_with("record 1 of the evaluations, game 0, ply 7: the game has "), "{message}");
    std::fs::remove_dir_all(bench.path("games")).unwrap();
    sample::write_games(&bench.path("games"), &short).unwrap();
    let mut rows = evaluations_of(0, &short[0], 7).unwrap();
    rows[2].id = "other".to_owned();
    bench.evaluations(&rows);
    let message = bench.failure(&[]).message;
    assert_eq!(
        message,
        "record 2 of the evaluations, game 0, ply 14: its game is \"other\", and the games have \"sample_0000\": another corpus"
    );
    (rows[2].game, rows[2].t) = (None, None);
    bench.evaluations(&rows);
    assert_eq!(bench.failure(&[]).message, "record 2 of the evaluations is of no game");
    rows[2] = evaluations_of(0, &short[0], 7).unwrap()[2].clone();
    rows[2].t = Some(700);
    bench.evaluations(&rows);
    assert!(bench.failure(&[]).message.starts_with("record 2 of the evaluations, game 0, ply 700: the game has "));
}

#[test]
fn records_that_are_no_positions_are_named() {
    let bench = Bench::new();
    bench.model(Form::Board);
    std::fs::remove_dir_all(bench.path("games")).unwrap();
    let rows = evaluations_of(0, &short_games()[0], 7).unwrap();
    let message = |change: &dyn Fn(&mut Evaluation)| {
        let mut rows = rows.clone();
        change(&mut rows[1]);
        bench.evaluations(&rows);
        bench.failure(&[]).message
    };
    let fen = |fen: &'static str| message(&move |row| row.fen = fen.to_owned());
    let clocks = fen("4k3/8/8/8/8/8/8/4K3 w - - 1000 1");
    assert!(clocks.starts_with("record 1 of the evaluations, "), "{clocks}");
    assert!(clocks.ends_with("the half-move clock is 1000, and 999 is the most"), "{clocks}");
    assert!(fen("8/8/8/8/8/8/8/4K3 w - - 0 1").contains("not a position of chess"));
    assert!(fen("4k3/8/8/8/8/8/8/1R2K3 w B - 0 1").contains("not a position of chess"));
    // Mated: no move is legal, and so not the best one.
    assert!(fen("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1").ends_with("is not legal"));
    assert!(message(&|row| row.lines[0].moves[0] = 0xffff).ends_with("its best move is none but 0xffff"));
}
