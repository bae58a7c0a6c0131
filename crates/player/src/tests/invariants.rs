//! Properties of players of every form.

use cwm_models::worker_pool::WorkerPool;

use super::*;

#[test]
fn a_cold_attempt_is_the_free_answer() {
    for form in Form::ALL {
        let player = player(form);
        let mut uniform = || 0.5;
        for plies in [0, 1, 9, 30] {
            let game = game(plies);
            let free = &player.answer(&[&question(&player, &game, plies)])[0].free;
            let attempt = player.attempt(&game, 1e-9, &mut uniform).unwrap();
            let text = match attempt {
                SampledAnswer::Illegal(text) => text,
                SampledAnswer::Move(action) => cwm_policy::actions::move_of(action).unwrap().to_string(),
            };
            assert_eq!(free, &text, "{form:?} after {plies}");
        }
    }
}

#[test]
fn legal_moves_are_as_likely_as_right_answers() {
    for form in Form::ALL {
        let player = player(form);
        let game = game(12);
        let likelihoods = player.legal_moves(&game).unwrap();
        let legal = legal_actions(game.position());
        assert_eq!(likelihoods.iter().map(|(action, _)| *action).collect::<Vec<_>>(), legal);
        for (place, (_, likelihood)) in likelihoods.iter().enumerate() {
            let answer = &player.answer(&[&question(&player, &game, place)])[0];
            let loss = answer.among_legal.map_or(answer.loss, |(_, loss)| loss);
            assert!((loss + likelihood).abs() < 1e-4, "{form:?}: {loss} and {likelihood}");
        }
        if form.end().is_none() {
            let sum: f64 = likelihoods.iter().map(|(_, likelihood)| likelihood.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            let best = likelihoods.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
            let question = question(&player, &game, 0);
            assert_eq!(player.answer(&[&question])[0].among_legal.unwrap().0, best);
        }
    }
}

/// Answers of one batch, of batches of one, and of several threads at once.
#[test]
fn answers_do_not_depend_on_threads_nor_but_for_rounding_on_batches() {
    for form in Form::ALL {
        let player = player(form);
        let questions: Vec<Question> = (0..4).map(|place| question(&player, &game(place * 5), place)).collect();
        let all: Vec<&Question> = questions.iter().collect();
        let together = player.answer(&all);
        assert_eq!(together, player.answer(&all));
        let workers = WorkerPool::new(3).unwrap();
        assert!(workers.map(3, |_| player.answer(&all)).iter().all(|answers| *answers == together));
        std::thread::scope(|scope| assert_eq!(scope.spawn(|| player.answer(&all)).join().unwrap(), together));
        for (question, among) in questions.iter().zip(&together) {
            assert!((player.answer(&[question])[0].loss - among.loss).abs() < 1e-4);
        }
    }
}

#[test]
fn a_text_answer_ends_at_its_longest() {
    for (form, most) in [(Form::Prompt, 6), (Form::Characters, 10)] {
        let player = player(form);
        let answer = &player.answer(&[&question(&player, &game(3), 1)])[0];
        assert!(answer.free.len() <= most);
        let mut uniform = {
            let mut state = 0.0;
            move || {
                state = (state + 0.618_034) % 1.0;
                state
            }
        };
        for _ in 0..20 {
            if let SampledAnswer::Illegal(text) = player.attempt(&game(3), 1.0, &mut uniform).unwrap() {
                assert!(text.len() <= most, "{text}");
            }
        }
    }
}

/// The games that a player has read before change no bit of its answers.
#[test]
fn what_is_kept_of_games_changes_no_answer() {
    let bits =
        |moves: Vec<(u16, f64)>| moves.into_iter().map(|(action, ln)| (action, ln.to_bits())).collect::<Vec<_>>();
    let mut varied = game(41);
    varied.push(*varied.position().legal_moves().last().unwrap());
    // Games that grow, that are taken back, that part late, and others in between.
    let mut games: Vec<GamePrefix> = [60, 61, 62, 40, 0, 41, 63].map(game).into();
    games.insert(5, varied);
    for form in Form::ALL {
        let warm = player(form);
        for (place, game) in games.iter().enumerate() {
            let cold = player(form);
            let number = place as f64 / games.len() as f64;
            assert_eq!(bits(warm.legal_moves(game).unwrap()), bits(cold.legal_moves(game).unwrap()), "{form:?}");
            let attempt = |player: &Player| player.attempt(game, 0.5, &mut || number).unwrap();
            assert_eq!(attempt(&warm), attempt(&cold), "{form:?}");
        }
        // Several threads with a game each.
        let (workers, warm) = (WorkerPool::new(3).unwrap(), &warm);
        let all = workers.map(12, |number| bits(warm.legal_moves(&games[number % games.len()]).unwrap()));
        for (number, found) in all.into_iter().enumerate() {
            assert_eq!(found, bits(player(form).legal_moves(&games[number % games.len()]).unwrap()), "{form:?}");
        }
    }
}

#[test]
fn legal_moves_are_as_likely_as_in_whole_passes() {
    for form in [Form::Prompt, Form::Characters, Form::Moves] {
        let player = player(form);
        for plies in [0, 7, 33, 62] {
            let game = game(plies);
            let board = Board::of(game.position()).unwrap();
            let tokens = player.read(|| Ok(board), Some(&game)).unwrap();
            let (read, first) = player.read_game(tokens.clone());
            let legal = legal_actions(game.position());
            let words: Vec<Vec<u16>> = legal.iter().map(|&action| player.words(game.position(), action)).collect();
            let given: Vec<Vec<u16>> = words.iter().map(|words| words[..words.len() - 1].to_vec()).collect();
            for (given, found) in given.iter().zip(read.followed_by(&given)) {
                let sequence = [tokens.as_slice(), given].concat();
                let whole = player.logits(&[sequence], &[1 + given.len()]).remove(0);
                assert_eq!(whole.len(), 1 + found.len());
                for (found, whole) in std::iter::once(&first).chain(&found).zip(&whole) {
                    let apart = found.iter().zip(whole).map(|(one, two)| (one - two).abs()).fold(0.0, f32::max);
                    assert!(apart <= 1e-5, "{form:?} after {plies}: {apart}");
                }
            }
        }
    }
}
