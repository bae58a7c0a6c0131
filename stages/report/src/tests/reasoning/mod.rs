//! The chapter of reasoning, on made-up measures and answers, and on the published ones.

mod answers;
mod judges;
mod replay;

use std::path::{Path, PathBuf};

use cwm_answers::{GradesDescription, ItemCount, Measure, PlayerSettings, Tallies, Tally};
use cwm_contract::testing::Trial;
use serde_json::json;

use super::{label, lines, names, read, run};

const PREDICT: &str = "reasoning_predict_move";
const BEST: &str = "reasoning_best_move";
const WORST: &str = "reasoning_worst_move";
const LEGAL: &str = "reasoning_legal_moves";

/// A measure of 400 answers, with an interval of four points.
fn measure(run: &str, task: &str, name: &str, value: f64) -> Measure {
    Measure {
        run: run.into(),
        task: task.into(),
        measure: name.into(),
        n: 400,
        value,
        low: Some(value - 0.02),
        high: Some(value + 0.02),
    }
}

/// All measures of a run whose quality is a number from 0 to 1.
fn measures(run: &str, quality: f64) -> Vec<Measure> {
    let of_predict =
        ["legal", "rank", "trivial", "best", "win_loss", "cp_loss", "commonest", "distinct", "grounded", "last"];
    let claims = ["referenced_accuracy", "pieces_accuracy", "claims_accuracy"];
    let mut all: Vec<Measure> =
        of_predict.iter().chain(&claims).map(|name| measure(run, PREDICT, name, quality)).collect();
    all.extend((0..10).map(|tenth| measure(run, PREDICT, &format!("rank_{tenth}"), quality / 10.0)));
    for (task, main, verdict) in
        [(PREDICT, "", "legal"), (BEST, "accuracy", "right"), (WORST, "accuracy", "right"), (LEGAL, "iou", "scored")]
    {
        let names = ["reward", "readable", &format!("verdict_{verdict}")].map(str::to_owned);
        all.extend(names.iter().map(|name| measure(run, task, name, quality)));
        all.push(measure(run, task, "verdict_unreadable", 1.0 - quality));
        all.extend((!main.is_empty()).then(|| measure(run, task, main, quality)));
    }
    all.push(measure(run, LEGAL, "iou_all", quality * 0.9));
    all
}

/// Three models before and after reinforcement learning, two of them with the paper's names, and a player.
fn usual() -> Tallies {
    let runs = [
        ("before[data=sft6_bm]", 0.44),
        ("after[data=sft6_bm]", 0.9),
        ("before[data=sft7_bl]", 0.5),
        ("after[data=sft7_bl]", 0.7),
        ("before[data=ours]", 0.3),
        ("after[data=ours]", 0.6),
        ("random", 0.2),
    ];
    tallies_of(runs.iter().flat_map(|(run, quality)| measures(run, *quality)).collect())
}

fn tallies_of(measures: Vec<Measure>) -> Tallies {
    let mut names: Vec<String> = measures.iter().map(|measure| measure.run.clone()).collect();
    names.dedup();
    let describe = |name: &String| (name.clone(), PlayerSettings { name: name.clone(), ..PlayerSettings::default() });
    Tallies {
        graded: GradesDescription { runs: names.iter().map(describe).collect(), ..GradesDescription::default() },
        overall: names.iter().map(|run| Tally { run: run.clone(), ..Tally::default() }).collect(),
        measures,
        ..Tallies::default()
    }
}

fn trial_of(folder: &Path, tallies: &Tallies) -> Trial {
    let path = folder.join("tallies");
    tallies.write(&path).unwrap();
    Trial::new(folder.join("trial")).labelled("tallies", label("grades"), path)
}

/// With the curves, the mixture and a data set of the model `ours`.
fn whole(folder: &Path) -> PathBuf {
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).unwrap();
        folder.join(name)
    };
    let line = |step: u64| {
        let reward = step as f64 / 10.0;
        format!(
            "{{\"kind\":\"reinforce\",\"step\":{step},\"reward\":{reward},\"reward_by_task\":{{\"{PREDICT}\":{reward}}},\"verdicts\":{{\"legal\":3}},\
             \"length\":7.5,\"clipped\":0,\"entropy\":0.5,\"gradient_norm\":1.0,\"learning_rate\":0.001,\"groups_without_signal\":0}}\n\
             {{\"kind\":\"validation\",\"step\":{step},\"reward\":{reward},\"reward_by_task\":{{\"{BEST}\":{reward}}}}}\n"
        )
    };
    let curves = write("curves", &(1..5).map(line).collect::<String>());
    let sft =
        write("sft", "{\"kind\":\"train\",\"step\":1,\"loss\":2.5,\"learning_rate\":0.1,\"gradient_norm\":1.0}\n");
    let source = |name: &str, tokens: u64, dry: bool| {
        format!("{{\"source\":\"{name}\",\"weight\":0.5,\"examples\":10,\"tokens\":{tokens},\"exhausted\":{dry}}}")
    };
    let sources = [source("built[builder=best_move]", 600, false), source("kept", 400, true)].join(",");
    let mixture = write("mixture", &format!("{{\"budget\":2000,\"tokens\":1000,\"sources\":[{sources}]}}"));
    let message = |role: &str, content: &str| json!({ "role": role, "content": content });
    let messages = [message("system", "Be brief."), message("user", "<b>What is best?"), message("assistant", "d2d4")];
    let example = json!({ "id": "best_move-000000", "messages": messages, "meta": { "builder": "best_move" } });
    let examples = write("examples", &format!("{example}\n{{ the second is not read\n"));
    let trial = trial_of(folder, &usual())
        .labelled("curves", label("trained[data=ours]"), curves)
        .labelled("curves", label("tuned[data=ours]"), sft)
        .labelled("mixtures", label("mixed[data=ours]"), mixture)
        .labelled("examples", label("built[builder=best_move]"), examples);
    run(trial).unwrap()
}

#[test]
fn every_table_and_figure_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let report = whole(folder.path());
    let tables = [
        "claims",
        "gaming",
        "grounded",
        "mixtures",
        "predictors",
        "quality",
        "rewards",
        "settings",
        "table-1",
        "table-2",
        "table-3",
        "table-4",
        "table-5",
        "words",
    ];
    assert_eq!(names(&report, "tables", ".csv"), tables.map(|name| format!("reasoning-{name}")));
    let figures = ["claims", "data-sets", "mixtures", "models", "predictors", "quality", "training"];
    assert_eq!(names(&report, "figures", ".svg"), figures.map(|name| format!("reasoning-{name}")));
    let page = read(&report, "index.html");
    assert!(
        page.contains("This page has 7 runs of models and players; of these, 6 are models before and after"),
        "{page}"
    );
    assert!(
        page.contains("Not all items are the published ones")
            && !page.contains("What does a language model understand")
    );
    let note = "The mix of ours has 1,000 tokens of the 2,000 that were wanted, since kept ran dry.";
    assert!(page.contains(note), "{page}");
    for part in
        ["built[builder=best_move]: <code>best_move-000000</code>", "b&#62;What is best?</pre>", "<pre>d2d4</pre>"]
    {
        assert!(page.contains(part), "{part} is not in {page}");
    }
}

#[test]
fn a_model_is_one_row_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let report = whole(folder.path());
    let csv = |name: &str| read(&report, &format!("tables/reasoning-{name}.csv"));
    let table_1 = csv("table-1");
    assert_eq!(lines(&table_1, "ours,ours,this run,1000,,,30,28,32,60,58,62,").len(), 1, "{table_1}");
    assert_eq!(lines(&table_1, "ours,random,this run,,,,20,18,22,,,,").len(), 1, "{table_1}");
    // On other items the paper's numbers stand apart, all 15 models.
    assert!(lines(&table_1, "difference,").is_empty());
    assert_eq!(lines(&table_1, "paper (not run here)").len(), 15, "{table_1}");
    assert_eq!(lines(&table_1, "paper,sft6_bm,paper (not run here),,15,8,44,,,93,,,0.64,").len(), 1, "{table_1}");
    assert_eq!(lines(&table_1, "paper,llama_4_maverick,paper (not run here),,,,42,,,,,,0.62,").len(), 1, "{table_1}");
    let mixtures = csv("mixtures");
    assert_eq!(lines(&mixtures, "ours,ours,kept,0.5,10,400,40,ran dry").len(), 1, "{mixtures}");
    let quality = csv("quality");
    assert_eq!(lines(&quality, "ours,ours,RL,400,0.6,0.58,0.62,60,58,62,").len(), 1, "{quality}");
    let predictors = csv("predictors");
    assert_eq!(lines(&predictors, "ours,Legal moves,this run,3,").len(), 1, "{predictors}");
    assert_eq!(lines(&predictors, "paper,Reasoning quality,printed values,12,").len(), 1, "{predictors}");
    let figure = |name: &str, part: &str| {
        let points = read(&report, &format!("figures/reasoning-{name}.csv"));
        assert!(points.contains(part), "{part} is not in {points}");
    };
    figure("training", "ours: step 4, 0.400");
    figure("models", "random: 20.00 % of 400");
    figure("quality", "ours RL, rank from 90 %: 6.00 %");
    figure("quality", "ours RL, no legal move: 40.00 %");
    figure("quality", "ours RL: 40.00 % of 400");
}

#[test]
fn questions_and_reasoning_are_not_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let count = |(task, category): (&str, &str)| ItemCount {
        task: task.into(),
        category: category.into(),
        ..ItemCount::default()
    };
    let items = [(PREDICT, "Reasoning"), ("motifs_pin", "Motifs")].map(count).into();
    let failure = run(trial_of(folder.path(), &Tallies { items, ..usual() })).unwrap_err();
    let expected = "the tallies of grades add up answers to questions and to items of reasoning";
    assert!(failure.message.contains(expected), "{failure}");
}

#[test]
fn tallies_without_measures_are_nothing_to_report() {
    let folder = tempfile::tempdir().unwrap();
    let failure = run(trial_of(folder.path(), &Tallies { measures: Vec::new(), ..usual() })).unwrap_err();
    assert!(failure.message.contains("there is nothing to report"), "{failure}");
}

#[test]
fn lenient_readings_stand_beside_those_of_the_release() {
    for cell in ["grades[reading=lenient]", "lenient"] {
        let folder = tempfile::tempdir().unwrap();
        let lenient = folder.path().join("lenient");
        tallies_of(measures("after[data=ours]", 0.65)).write(&lenient).unwrap();
        let trial = trial_of(folder.path(), &usual()).labelled("tallies", label(cell), &lenient);
        let report = run(trial).unwrap();
        let readings = read(&report, "tables/reasoning-readings.csv");
        assert_eq!(readings.lines().count(), 5, "{readings}");
        assert!(
            readings.contains("ours,ours,RL,reasoning_legal_moves,60,58,62,65,63,67,54,52,56,58.5,56.5,60.5,0.6,"),
            "{readings}"
        );
    }
}
