use super::*;

#[test]
fn shares_intervals_and_differences_are_those_of_the_answers() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [("a", run_of("good"), twenty_answers(8)), ("b", run_of("bad"), twenty_answers(3))];
    let tallies = tallies(&trial(folder.path(), &runs).run(&Grade).unwrap());
    let [bad, good] = &tallies.overall[..] else { panic!("{:?}", tallies.overall) };
    assert_eq!((bad.run.as_str(), bad.correct, bad.wrong_answer), ("bad", 6, 14));
    assert_eq!((good.run.as_str(), good.correct, good.accuracy), ("good", 16, 0.8));
    // Twenty answers with 0.8: the deviation of the mean is 0.09.
    assert!((0.55..0.75).contains(&good.low) && (0.85..=1.0).contains(&good.high), "{good:?}");
    assert_eq!((tallies.tasks.len(), tallies.categories.len()), (4, 2));
    assert_eq!(tallies.tasks[0].task.as_deref(), Some(KEYWORD));
    let [pair] = &tallies.pairs[..] else { panic!("{:?}", tallies.pairs) };
    assert_eq!((pair.agreement, pair.both_correct, pair.difference), (10, 6, -0.5));
    assert!(pair.low < -0.5 && -0.5 < pair.high && pair.high < 0.0, "{pair:?}");
    let [keyword, _] = &tallies.items[..] else { panic!("{:?}", tallies.items) };
    assert_eq!((keyword.items, keyword.positions, keyword.chance), (10, 10, 0.25));
}

/// Tasks of the same size are drawn independently: otherwise both would be right or wrong together, and the interval as wide as
/// that of one.
#[test]
fn tasks_are_drawn_independently() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [("a", run_of("half"), twenty_answers(5))];
    let trial = trial(folder.path(), &runs).with("resamples", Value::Int(4_000));
    let tallies = tallies(&trial.run(&Grade).unwrap());
    let width = |tally: &cwm_answers::Tally| tally.high - tally.low;
    let ratio = width(&tallies.overall[0]) / width(&tallies.tasks[0]);
    assert!((0.6..0.8).contains(&ratio), "{ratio}");
}

#[test]
fn neither_the_order_of_rows_nor_other_tasks_change_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let run = |folder: &Path, rows: Vec<Answer>| {
        std::fs::create_dir_all(folder).unwrap();
        trial(folder, &[("a", run_of("x"), rows)]).run(&Grade).unwrap()
    };
    let mut rows = twenty_answers(4);
    let first = run(&folder.path().join("1"), rows.clone());
    rows.rotate_left(7);
    let second = run(&folder.path().join("2"), rows.clone());
    assert_eq!(all_bytes(&first), all_bytes(&second));
    let mut asked = twenty_answers(4);
    for answer in &mut asked[10..] {
        (answer.response, answer.finish) = (None, Some(NOT_ASKED.into()));
    }
    let half = tallies(&run(&folder.path().join("3"), asked));
    assert_eq!((half.overall[0].items, half.tasks.len(), half.items.len()), (10, 1, 2));
    assert_eq!(half.tasks[0], tallies(&first).tasks[0]);
}

#[test]
fn runs_are_compared_on_the_tasks_that_both_were_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut half = twenty_answers(10);
    for answer in &mut half[10..] {
        answer.finish = Some(NOT_ASKED.into());
    }
    let runs = [("a", run_of("half"), half), ("b", run_of("whole"), twenty_answers(4))];
    let outcome = trial(folder.path(), &runs).run(&Grade).unwrap();
    let pair = &tallies(&outcome).pairs[0];
    assert_eq!((pair.items, pair.agreement, pair.both_correct, pair.difference), (10, 4, 4, 0.6));
    assert_eq!(Grades::open(&outcome.outputs["grades"]).unwrap().total(), 30);
}

#[test]
fn costs_are_the_servers_otherwise_by_the_price_list() {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = twenty_answers(10);
    answers[0].cost = Some(0.5);
    answers[1].cost = Some(f64::NAN);
    for answer in &mut answers[2..4] {
        let tokens = [Some(1_000_000), Some(300_000), Some(100_000)];
        [answer.prompt_tokens, answer.completion_tokens, answer.reasoning_tokens] = tokens;
    }
    let runs = [("a", run_of("x"), answers)];
    let priced = |prices: &[(&str, f64)]| {
        let prices = prices.iter().map(|(name, price)| ((*name).to_owned(), Value::Float(*price))).collect();
        let prices = Value::Map([("x".to_owned(), Value::Map(prices))].into());
        trial(folder.path(), &runs).with("prices", prices)
    };
    let cost = |trial: Trial| {
        let tally = tallies(&trial.run(&Grade).unwrap()).overall[0].clone();
        (tally.with_cost, tally.cost.unwrap())
    };
    assert_eq!(cost(trial(folder.path(), &runs)), (1, 0.5));
    assert_eq!(cost(priced(&[("input", 1.0), ("output", 10.0)])), (3, 0.5 + 2.0 * (1.0 + 3.0)));
    assert_eq!(cost(priced(&[("input", 1.0), ("output", 10.0), ("reasoning", 0.0)])), (3, 0.5 + 2.0 * (1.0 + 2.0)));
    assert!(message(priced(&[("input", 1.0)])).contains("of x lacks `output`"));
    assert!(message(priced(&[("input", 1.0), ("output", f64::NAN)])).contains("which is no price"));
    assert!(message(priced(&[("input", 1.0), ("output", 1e308)])).contains("which is no price"));
    assert!(message(priced(&[("input", 1.0), ("output", -1.0)])).contains("which is no price"));
    assert!(message(priced(&[("input", 1.0), ("output", 1.0), ("x", 1.0)])).contains("prices are of input, output"));
}

/// A program that only knows ids and texts: the run has the name of its stage, and nothing is known of tokens.
#[test]
fn failed_and_foreign_answers_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = twenty_answers(10);
    answers[3].response = None;
    (answers[3].finish, answers[3].fault) = (Some("failed".into()), Some("HTTP 500".into()));
    let tallies = tallies(&trial(folder.path(), &[("a", run_of("x"), answers)]).run(&Grade).unwrap());
    let tally = &tallies.overall[0];
    assert_eq!((tally.items, tally.correct, tally.format_error, tally.unread), (20, 19, 1, 1));
    assert_eq!((tally.with_tokens, tally.completion_tokens, tally.cost), (0, None, None));
}
