use cwm_models::device;
use cwm_player::{GamePrefix, Player};
use cwm_policy::actions::{action_of, legal_actions};
use cwm_policy::inputs::board::Board;

use super::*;

#[test]
fn rows_are_what_the_player_answers_in_the_positions_of_the_evaluations() {
    let bench = Bench::new();
    let games = short_games();
    for form in Form::ALL {
        bench.model(form);
        let (chooser, rows) = rows(&bench.run());
        assert_eq!(
            chooser.arm(),
            if form == Form::Board { "board/none".into() } else { format!("{}/causal", form.name()) }
        );
        assert_eq!((chooser.name.as_str(), chooser.size.as_deref(), chooser.seed), ("gpt", Some("d32/l2"), Some(3)));
        let player = Player::open(&bench.path("checkpoint"), &device::cpu()).unwrap();
        assert_eq!(chooser.parameters, Some(player.description().parameters));
        assert_eq!(rows.len(), games.iter().map(|game| game.len().div_ceil(7)).sum::<usize>());
        for (record, row) in rows.iter().enumerate() {
            let t = row.t.unwrap() as usize;
            let moves = &games[row.game.unwrap() as usize];
            let mut game = GamePrefix::default();
            moves[..t].iter().for_each(|&plain| game.push(cwm_encoding::legal(game.position(), plain).unwrap()));
            let board = Board::of(game.position()).unwrap();
            let question = player.question(&board, Some(&game), action_of(moves[t]).unwrap()).unwrap();
            let answer = &player.answer(&[&question])[0];
            assert_eq!((row.record, row.best), (record as u64, moves[t].packed()));
            assert_eq!(
                (row.text.as_str(), row.forced_text.as_deref()),
                (answer.free.as_str(), Some(answer.forced.as_str()))
            );
            assert!((row.loss.unwrap() - answer.loss).abs() < 1e-4);
            assert_eq!(row.tokens.map(usize::from), Some(answer.tokens));
            let legal = legal_actions(game.position());
            assert_eq!(usize::from(row.legal_moves), legal.len());
            let is_legal =
                legal.iter().any(|&action| cwm_policy::actions::move_of(action).unwrap().to_string() == row.text);
            if form != Form::Characters {
                assert_eq!(row.free.legal, is_legal);
                assert_eq!(row.free.best, moves[t].to_string() == row.text);
            }
            let is_one_token = matches!(form, Form::Board | Form::Moves);
            assert_eq!((row.mask_best.is_some(), row.mask_loss.is_some()), (is_one_token, is_one_token));
            if is_one_token {
                assert!(row.free.valid && row.mask_loss.unwrap() < row.loss.unwrap());
                assert_eq!(row.forced, Some(row.free));
            }
            assert_eq!(row.seen, None);
        }
    }
}

#[test]
fn bytes_are_the_same_on_any_number_of_cores() {
    let bench = Bench::new();
    for form in Form::ALL {
        bench.model(form);
        let bytes = |cores| {
            let outcome = bench.run_with(cores, &[("batch_tokens", Value::Int(400))]).unwrap();
            std::fs::read(&outcome.outputs["choices"]).unwrap()
        };
        let one = bytes(1);
        assert!(one == bytes(2) && one == bytes(5), "{form:?}");
    }
}

#[test]
fn positions_of_the_training_are_seen_whatever_their_counts_of_moves() {
    let bench = Bench::new();
    bench.model(Form::Board);
    let mut train = evaluations_of(0, &short_games()[0], 7).unwrap();
    train.truncate(3);
    train.iter_mut().for_each(|row| row.fen = row.fen.rsplit_once(' ').unwrap().0.to_owned() + " 77");
    write_evaluations(&bench.path("train"), &train).unwrap();
    let (_, rows) = rows(&bench.run());
    for row in &rows {
        let is_first = row.t == Some(0);
        let is_given = row.game == Some(0) && row.t.unwrap() < 21;
        assert_eq!(row.seen, Some(is_first || is_given), "{row:?}");
    }
}

#[test]
fn what_some_form_has_no_room_for_is_dropped_from_all_and_counted() {
    let knights = |plies: usize| -> Vec<PlainMove> {
        use shakmaty::Square::{F3, F6, G1, G8};
        let moves = [(G1, F3), (G8, F6), (F3, G1), (F6, G8)];
        moves.map(|(from, to)| PlainMove { from, to, promotion: None }).into_iter().cycle().take(plies).collect()
    };
    let bench = Bench::of_games(&[knights(601)], 100);
    // A position in which a prompt has no room for the legal moves, of no game.
    let fen = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";
    bench.model(Form::Board);
    let kept = |outcome: &Outcome| rows(outcome).1.iter().map(|row| row.t).collect::<Vec<_>>();
    let outcome = bench.run();
    assert_eq!(kept(&outcome), [Some(0), Some(100)]);
    // Plies 200 to 500 have too much text before them, and ply 600 too many moves as well.
    let expected =
        r#"{"dropped":{"characters_context":4,"legal_moves":0,"moves_context":1},"positions":2,"stage":"choose"}"#;
    assert_eq!(counts(&outcome).trim(), expected);
    let limited = bench.run_with(2, &[("limit", Value::Int(1))]).unwrap();
    assert_eq!(kept(&limited), [Some(0)]);

    let many = Board::parse(fen).unwrap();
    let best = cwm_policy::actions::move_of(legal_actions(many.position())[0]).unwrap().packed();
    let mut rows_without_games = evaluations_of(0, &knights(601), 100).unwrap();
    let mut of_no_game = rows_without_games[0].clone();
    (of_no_game.game, of_no_game.t, of_no_game.fen) = (None, None, fen.to_owned());
    of_no_game.lines[0].moves = vec![best];
    rows_without_games.insert(1, of_no_game);
    bench.evaluations(&rows_without_games);
    std::fs::remove_dir_all(bench.path("games")).unwrap();
    let outcome = bench.run();
    assert_eq!(kept(&outcome).len(), 7);
    assert!(
        counts(&outcome).contains(r#"{"characters_context":0,"legal_moves":1,"moves_context":0}"#),
        "{}",
        counts(&outcome)
    );
}

#[test]
fn hyper_parameters_of_the_training_stand_with_the_choices() {
    let bench = Bench::new();
    bench.model(Form::Board);
    let path = bench.path("checkpoint").join("model.json");
    let mut description: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    description["training"]["batch_size"] = 32.into();
    description["training"]["lr"] = 0.003.into();
    description["training"]["micro_batch_tokens"] = 768.into();
    std::fs::write(&path, description.to_string()).unwrap();
    let (chooser, _) = rows(&bench.run());
    assert_eq!(serde_json::Value::Object(chooser.training), serde_json::json!({"batch_size": 32, "lr": 0.003}));
}
