//! Players that need no server.

use cwm_contract::testing;
use cwm_questions::Form;

use super::*;

fn run(folder: &Path, player: &str, items: &[Item], cores: usize) -> Result<Outcome, Failure> {
    let path = folder.join("items.jsonl");
    write_items(&path, items);
    let trial = Trial::new(folder.join(format!("{player}-{cores}"))).input("items", path).cores(cores);
    trial.with("player", text(player)).with("depth", Value::Int(1)).run(&Answer)
}

fn all_tasks() -> Vec<Item> {
    Task::published().map(item).collect()
}

#[test]
fn every_player_answers_every_task_and_cores_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for player in ["oracle", "random", "rules", "engine"] {
        let one = run(folder.path(), player, &all_tasks(), 1).unwrap();
        let two = run(folder.path(), player, &all_tasks(), 2).unwrap();
        assert_eq!(std::fs::read(&one.outputs["answers"]).unwrap(), std::fs::read(&two.outputs["answers"]).unwrap());
        let (run, rows) = answers(&one);
        assert_eq!((run.name.as_str(), run.player.as_deref(), run.max_tokens), (player, Some(player), None));
        for (row, item) in rows.iter().zip(all_tasks()) {
            let text = row.response.as_deref().unwrap().strip_prefix("FINAL ANSWER: ").unwrap();
            assert_eq!(row.task_id, item.task_id);
            match (player, item.task().unwrap().form()) {
                ("oracle", _) => assert_eq!(text, item.correct_answer),
                (_, Form::Move) => assert!(text.len() >= 4, "{player} {text}"),
                (_, Form::Centipawns) => {
                    assert!(["-400", "-200", "0", "200", "400"].contains(&text), "{player} {text}")
                }
                (_, Form::Letter) => assert!(["A", "B", "C", "D"].contains(&text), "{player} {text}"),
                ("random", _) => assert_eq!(text, ""),
                _ => {}
            }
        }
    }
}

#[test]
fn rules_and_engine_find_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let tactics = Task::of_name("short_tactics_theme_mateIn1").unwrap();
    let judgement = Task::of_name("position_judgement_winning").unwrap();
    let semantic = Task::of_name("semantic_keyword").unwrap();
    let mate = Item { input: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1".into(), ..item(tactics) };
    let ahead = Item { task_id: "b".into(), input: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 b - -".into(), ..item(judgement) };
    // A published right that cannot be is dropped.
    let right = Item { task_id: "c".into(), input: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w Q -".into(), ..item(judgement) };
    let comment = Item { task_id: "d".into(), ..item(semantic) };
    for player in ["rules", "engine"] {
        let items = [mate.clone(), ahead.clone(), right.clone(), comment.clone()];
        let (_, rows) = answers(&run(folder.path(), player, &items, 1).unwrap());
        let found: Vec<_> =
            rows.iter().map(|row| row.response.as_deref().unwrap().trim_start_matches("FINAL ANSWER: ")).collect();
        assert_eq!(found, ["e1e8", "400", "400", "A"], "{player}");
    }
}

/// With `samples`, all answers to an item were the same.
#[test]
fn random_answers_depend_on_the_seed_and_the_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("items.jsonl");
    let tactics = Task::of_name("short_tactics_rating_expert").unwrap();
    let items: Vec<Item> = (0..40).map(|number| Item { task_id: format!("{number}"), ..item(tactics) }).collect();
    write_items(&path, &items);
    let answered = |seed, samples| {
        let trial = Trial::new(folder.path().join(format!("{seed}-{samples}"))).input("items", &path);
        let trial = trial.with("player", text("random")).with("seed", Value::Int(seed));
        let rows = answers(&trial.with("samples", Value::Int(samples)).run(&Answer).unwrap()).1;
        rows.into_iter().map(|row| row.response.unwrap()).collect::<Vec<_>>()
    };
    let distinct = |texts: &[String]| texts.iter().collect::<std::collections::HashSet<_>>().len();
    let (one, two, many) = (answered(1, 1), answered(2, 1), answered(1, 30));
    assert_ne!(one, two);
    assert!(distinct(&one) > 10, "{one:?}");
    for (one, many) in one.iter().zip(many.chunks(30)) {
        assert!(*one == many[0] && distinct(many) > 10, "{many:?}");
    }
}

#[test]
fn a_task_that_is_not_known_is_not_asked_but_of_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = [Item { task_type: "chess_poems".into(), ..item(Task::Pin) }];
    let finish = |player: &str| answers(&run(folder.path(), player, &unknown, 1).unwrap()).1[0].finish.clone().unwrap();
    assert_eq!(["oracle", "random", "rules", "engine"].map(finish), ["stop", "not_asked", "not_asked", "not_asked"]);
}

#[test]
fn bad_items_and_bad_parameters_are_errors_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let tactics = item(Task::of_name("short_tactics_rating_expert").unwrap());
    let broken = [Item { input: "8/8 w - -".into(), ..tactics.clone() }];
    let failure = fails(run(folder.path(), "rules", &broken, 1));
    assert!(
        failure.message.starts_with("short_tactics_rating_expert_0000: ") && failure.message.contains("8/8 w - -"),
        "{failure}"
    );
    let failure = fails(run(folder.path(), "rules", &[tactics.clone(), tactics], 1));
    assert!(failure.message.contains("line 2"), "{failure}");
    let failure = fails(run(folder.path(), "rules", &[], 1));
    assert_eq!(failure.message, "there is no item to ask about");
    let check = |parameter: &str, value: Value, wanted: &str| {
        let trial = trial(folder.path(), 1, "http://127.0.0.1:1").with(parameter, value);
        let failure = fails(trial.run(&Answer));
        assert!(failure.message.starts_with(&format!("parameter `{parameter}` {wanted}")), "{failure}");
    };
    check("model", Value::Null, "must be given");
    check("url", text("127.0.0.1:80"), "must begin with http:// or https://");
    check("url", text("http://user:secret@host/v1"), "must name a host, without a user name or password");
    check("key_variable", text("sk-1"), "must be the name of an environment variable, and not the key itself");
    check("url", text("http://host/v1?key=1"), "must have no query");
    check("budget", Value::Float(0.0), "must be dollars above 0");
    check("budget", Value::Float(f64::NAN), "must be dollars above 0");
    check("prices", Value::Map([("input".to_owned(), Value::Float(1.0))].into()), "must have `input` and `output`");
    for price in [-1.0, 1e308] {
        let prices = [("input".to_owned(), Value::Float(price)), ("output".to_owned(), Value::Float(1.0))];
        check("prices", Value::Map(prices.into()), "must be dollars from 0 to 1e9");
    }
    check("extra", Value::Map([("model".to_owned(), text("x"))].into()), "must not have `model`");
    check("temperature", Value::Float(-1.0), "must be a number of at least 0");
}

#[test]
fn transport_is_in_no_key_and_every_player_has_its_own_parameters() {
    let values = |given: &[(&str, Value)]| -> Values {
        let specs = Answer.parameters();
        let mut values: Values =
            specs.into_iter().map(|spec| (spec.name.to_owned(), spec.default.unwrap_or_default())).collect();
        values.extend(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        values
    };
    let unused = Answer.unused_parameters(&values(&[("model", text("m"))]));
    for name in
        ["url", "key_variable", "connections", "budget", "prices", "timeout", "on_error", "seed", "engine", "nodes"]
    {
        assert!(unused.contains(&name), "{name}");
    }
    for name in ["model", "context", "examples", "max_tokens", "temperature", "reasoning", "extra", "player", "name"] {
        assert!(!unused.contains(&name), "{name}");
    }
    let unused = Answer.unused_parameters(&values(&[("player", text("engine"))]));
    assert!(unused.contains(&"model") && unused.contains(&"nodes") && !unused.contains(&"depth"), "{unused:?}");
}

#[test]
fn probes_are_the_same_twice() {
    for player in ["server", "oracle", "random", "rules", "engine"] {
        let values = || Values::from([("player".to_owned(), text(player)), ("model".to_owned(), text("m"))]);
        let probe = || testing::probe(&Answer, values(), tempfile::tempdir().unwrap().path()).unwrap().unwrap();
        let probed = probe();
        assert!(!probed.is_empty() && probed == probe(), "{player}: {:?}", probed.keys());
    }
}
