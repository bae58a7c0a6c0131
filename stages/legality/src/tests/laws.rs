//! Invariants that hold for any model and any games.

use cwm_contract::Stage;
use cwm_contract::testing::probe;
use cwm_policy::inputs::words::{Words, word_of};
use shakmaty::{Chess, Position};

use super::*;

#[test]
fn rows_are_the_words_of_games_and_means_are_theirs() {
    let games = sample::games()[2..].to_vec();
    let bench = Bench::new(&games).model(ModelTask::Moves, "gpt", "d32/l1", 3);
    let outcome = bench.run(&[]);
    let (_, rows) = read(&outcome);
    let mut words = games.iter().map(|game| Words::of(game.iter().copied())).enumerate().flat_map(|(game, words)| {
        (0..words.len()).map(move |token| (game as u32, token as u32, words.after[token], words.phases[token].number()))
    });
    assert!(rows.iter().map(|row| (row.game, row.token, row.ply, row.phase)).eq(words.by_ref()));
    let mean = |of: &dyn Fn(&Row) -> Option<f64>| {
        let values: Vec<f64> = rows.iter().filter_map(of).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let flag = |flag: bool| f64::from(u8::from(flag));
    let all = finding(&outcome, "all").unwrap();
    for (name, expected) in [
        ("legal", mean(&|row| row.legal.map(flag))),
        ("loose", mean(&|row| row.loose.map(flag))),
        ("accuracy", mean(&|row| Some(flag(row.right)))),
        ("mass", mean(&|row| row.mass)),
        ("loss", mean(&|row| Some(row.loss))),
        ("perplexity", mean(&|row| Some(row.loss)).exp()),
    ] {
        let found = all.get(name).unwrap();
        assert!((found - expected).abs() < 1e-9, "{name}: {found} {expected}");
        let (low, high) = all.interval(name).unwrap();
        assert!(low <= found && found <= high, "{name}: {low} {found} {high}");
    }
    assert_eq!(all.n, rows.len() as u64);
    let of_phases = ["0", "1", "2", "3", "5", "after_promotion"].map(|of| finding(&outcome, of).map_or(0, |one| one.n));
    assert_eq!(of_phases.iter().sum::<u64>(), all.n);
    assert!(rows.iter().all(|row| row.legal <= row.loose && row.mass.is_none_or(|mass| (0.0..=1.0).contains(&mass))));
}

#[test]
fn whole_moves_are_the_greedy_answers_of_all_plies() {
    let games = sample::games()[3..5].to_vec();
    let bench = Bench::new(&games).model(ModelTask::Moves, "gpt", "d32/l1", 5);
    let outcome = bench.run(&[]);
    let moves = finding(&outcome, "moves").unwrap();
    let model = cwm_inside::Model::open(
        &bench.path("checkpoint"),
        cwm_inside::WeightsSource::Trained,
        &cwm_models::device::cpu(),
    );
    let model = model.unwrap();
    let expected = |words: &[u16]| {
        let tokens = cwm_models::Tokens::padded([words], 0);
        let logits = model.network().logits_at(&model.pass(), &tokens, &[words.len() - 1]).into_data();
        crate::score::likeliest(logits.as_slice::<f32>().unwrap())
    };
    let (mut plies, mut legal) = (0, 0);
    for game in &games {
        let mut position = Chess::default();
        for ply in 0..=game.len() {
            let mut words = Words::of(game[..ply].iter().copied()).ids;
            let legal_moves: Vec<PlainMove> = position.legal_moves().into_iter().map(PlainMove::from).collect();
            if !legal_moves.is_empty() {
                let begin = words.len();
                for _ in 0..2 {
                    words.push(expected(&words));
                }
                let answers = |plain: &&PlainMove| [word_of(plain.from), word_of(plain.to)] == words[begin..];
                let answer = legal_moves.iter().find(answers);
                plies += 1;
                let piece = answer.and_then(|plain| plain.promotion).map(|_| expected(&words));
                legal += u64::from(answer.is_some() && piece.is_none_or(|piece| (68..72).contains(&piece)));
            }
            if let Some(&plain) = game.get(ply) {
                position.play_unchecked(cwm_encoding::legal(&position, plain).unwrap());
            }
        }
    }
    assert_eq!(moves.n, plies);
    assert_eq!(moves.get("legal").unwrap(), legal as f64 / plies as f64);
    let none = bench.run(&[("move_games", Value::Int(0))]);
    assert!(finding(&none, "moves").is_none());
    assert_eq!(finding(&none, "all"), finding(&outcome, "all"));
}

#[test]
fn a_game_that_is_over_has_no_legal_word_and_one_that_is_cut_goes_on() {
    let uci = |text: &str| {
        let plain = |word: &str| match word.parse() {
            Ok(shakmaty::uci::UciMove::Normal { from, to, promotion }) => PlainMove { from, to, promotion },
            _ => panic!("{word}"),
        };
        text.split(' ').map(plain).collect::<Vec<_>>()
    };
    let bench = Bench::new(&[uci("f2f3 e7e5 g2g4 d8h4"), uci("e2e4 e7e5")]).model(ModelTask::Moves, "gpt", "d32/l1", 1);
    let (_, rows) = read(&bench.run(&[]));
    let lasts = [&rows[8], &rows[13]];
    assert_eq!(
        lasts.map(|row| (row.token, row.legal.is_some(), row.mass.is_some())),
        [(8, false, false), (4, true, true)]
    );
    let outcome = bench.run(&[("max_tokens", Value::Int(4)), ("max_game_tokens", Value::Int(8))]);
    let note = "input `games`: 1 games too long and 0 of other rules are dropped";
    assert!(outcome.events.iter().any(|event| matches!(event, cwm_contract::Event::Note(text) if text == note)));
    let (of, cut) = read(&outcome);
    assert_eq!((of.games, of.dropped["too_long"], cut.len()), (1, 1, 4));
    assert!((cut[3].loss - rows[12].loss).abs() < 1e-5 && cut[3].game == 1);
}

#[test]
fn games_of_the_training_are_counted() {
    let games = sample::games();
    let bench =
        Bench::new(&[games[4].clone(), games[5].clone(), games[4].clone()]).model(ModelTask::Moves, "gpt", "d32/l1", 1);
    assert_eq!(read(&bench.run(&[])).0.seen, None);
    sample::write_dataset(&bench.path("train"), &[games[4].clone(), games[5][..9].to_vec(), games[4].clone()]).unwrap();
    let trial = Trial::new(bench.path("work")).input("train", bench.path("train"));
    let trial = trial.input("games", bench.path("games")).input("checkpoint", bench.path("checkpoint"));
    let outcome = trial.with("move_games", Value::Int(0)).run(&Legality).unwrap();
    assert_eq!(read(&outcome).0.seen, Some(2));
    assert_eq!(finding(&outcome, "all").unwrap().get("seen_games"), Some(2.0));
}

#[test]
fn bytes_do_not_depend_on_cores() {
    let bench = Bench::new(&sample::games()[1..]).model(ModelTask::Moves, "transformer", "d32/l1", 3);
    let bytes = |cores| {
        let outcome = bench.run_on(&[("batch_tokens", Value::Int(300)), ("move_games", Value::Int(2))], cores).unwrap();
        ["legality", "findings"].map(|output| std::fs::read(&outcome.outputs[output]).unwrap())
    };
    assert!(bytes(1) == bytes(3));
}

#[test]
fn the_probe_reads_games_with_each_family_and_is_the_same_twice() {
    let probe = |family: &str| {
        let values = [("family".to_owned(), Value::Text(family.to_owned()))].into();
        probe(&Legality, values, tempdir().unwrap().path()).unwrap().unwrap()
    };
    let probed = probe("gpt");
    assert_eq!(probed.keys().collect::<Vec<_>>(), ["gpt/findings", "gpt/legality"]);
    assert!(probe("gpt") == probed);
    let defaults = Legality.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
    let values = defaults.chain([("family".to_owned(), Value::Text("slice".to_owned()))]).collect();
    assert_eq!(Legality.code_parts(&values).unwrap(), ["slice", "words"]);
}
