//! `sweep.yaml` and `paper.yaml` themselves, from games to the report, with little of everything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::context::Context;

/// Games that stand for the two months.
const GAMES: &str = "
cwm: 1
stages:
  train: { stage: play, with: { policy: engine, games: 40, seed: 1 } }
  held_out: { stage: play, with: { policy: engine, games: 8, seed: 2 } }
export: { train.pgn: train/, held_out.pgn: held_out/ }
";

/// Lines in the `vars` of both files, each with the line that replaces it in a test.
const SMALLER: [(&str, &str); 12] = [
    ("train: null", "train: train/pgn.pgn.zst"),
    ("train_games: 10000000", "train_games: 30"),
    ("held_out: null", "held_out: held_out/pgn.pgn.zst"),
    ("held_out_games: 10000\n", "held_out_games: 4\n"),
    ("random_played: 10100", "random_played: 6"),
    ("random_games: 10000\n", "random_games: 4\n"),
    ("steps: 310944", "steps: 3"),
    ("batch_size: 128", "batch_size: 8"),
    ("shard_games: 1000000", "shard_games: 10"),
    ("validation_every: 5000", "validation_every: 2"),
    ("micro_batch_tokens: 65536", "micro_batch_tokens: 768"),
    ("validation: 50 }", "validation: 3000 }"),
];

/// A pipeline of the repository, made smaller, as `pipeline.yaml`.
fn smaller(file: &str, further: &[(&str, &str)]) -> Context {
    let context = Context::with(GAMES);
    let made = context.run(&[]);
    assert_eq!(made.raw.code, 0, "{}\n{}", made.raw.stdout, made.raw.stderr);
    let mut text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/chess-world-model").join(file))
            .expect("the pipeline");
    for (old, new) in SMALLER.iter().chain(further) {
        assert!(text.contains(old), "{file} no longer says `{old}`: this test must follow");
        text = text.replace(old, new);
    }
    context.write("pipeline.yaml", &text);
    context
}

/// Returns the number of cells of each stage.
fn counted(labels: &BTreeSet<String>) -> BTreeMap<&str, usize> {
    let mut counted = BTreeMap::new();
    for label in labels {
        *counted.entry(label.split('[').next().unwrap_or_default()).or_default() += 1;
    }
    counted
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Returns the part `training` of the summary of a training.
fn summary(context: &Context, training: &str) -> Value {
    json(&context.output(&format!("{training}.summary")))["training"].clone()
}

/// The rows of a table of the report.
fn rows(context: &Context, folder: &str, table: &str) -> Vec<String> {
    context.read(&format!("{folder}/tables/{table}.csv")).lines().skip(1).map(str::to_owned).collect()
}

const FAMILIES: [&str; 2] = ["transformer", "slice"];
const SIZES: [&str; 2] = ["d8/l1", "d16/l1"];
/// Labels of the configurations of each family and size.
const CONFIGURATIONS: [&str; 4] = [
    "lr=0.001,weight_decay=0.0,warmup=1,beta2=0.95",
    "lr=0.001,weight_decay=0.0,warmup=1,beta2=0.999",
    "lr=0.01,weight_decay=0.0,warmup=1,beta2=0.95",
    "lr=0.01,weight_decay=0.0,warmup=1,beta2=0.999",
];

/// `sweep.yaml` with two families and the ablation of one, two sizes and four configurations.
fn sweep() -> Context {
    smaller(
        "sweep.yaml",
        &[
            ("        mamba3: { name: mamba3, precision: bf16 }\n", ""),
            ("        gated_deltanet: { name: gated_deltanet, precision: tf32 }\n", ""),
            ("        mamba2: { name: mamba2, parent: mamba3, precision: tf32 }\n", ""),
            ("        gated_deltanet_pos: { name: gated_deltanet_pos, parent: gated_deltanet, precision: tf32 }\n", ""),
            ("d128/l1: { name: d128/l1", "d8/l1: { name: d8/l1"),
            ("d256/l2: { name: d256/l2", "d16/l1: { name: d16/l1"),
            ("        d384/l4: { name: d384/l4, gpu: 0.5 }\n", ""),
            ("        d512/l6: { name: d512/l6, gpu: 1 }\n", ""),
            ("[1.0e-4, 3.0e-4, 1.0e-3, 3.0e-3]", "[1.0e-3, 1.0e-2]"),
            ("weight_decay: [0.0, 1.0e-3, 1.0e-2]", "weight_decay: [0.0]"),
            ("warmup: [5000, 10000, 20000]", "warmup: [1]"),
            ("beta2: [0.95, 0.99, 0.999]", "beta2: [0.95, 0.999]"),
            ("{ slice: { d512/l6: { rank: 2 } } }", "{ slice: { d16/l1: { rank: 2 } } }"),
        ],
    )
}

/// The hyper-parameters of a cell's configurations, from the lowest last validation loss to the highest.
fn ranked(context: &Context, cell: &str) -> Vec<Value> {
    let mut found: Vec<(f64, Value)> = CONFIGURATIONS
        .iter()
        .map(|configuration| {
            let training = summary(context, &format!("sweep[{cell},{configuration}]"));
            (training["validation"]["loss"].as_f64().expect("a loss"), training)
        })
        .collect();
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert!(found[0].0 < found[1].0 && found[1].0 < found[2].0, "{cell}: losses that say nothing");
    found.into_iter().map(|(_, training)| training).collect()
}

/// Asserts that both have the same values of these hyper-parameters.
#[track_caller]
fn agree(one: &Value, other: &Value, names: &[&str]) {
    for name in names {
        let number = |values: &Value| values[name].as_f64().unwrap_or_else(|| panic!("{name} in {values}"));
        assert_eq!(number(one), number(other), "{name}");
    }
}

#[test]
fn the_sweep_of_the_paper_selects_the_best_and_later_stages_depend_on_it() {
    let context = sweep();
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    let cells = [
        ("sweep", 16),
        ("choice", 4),
        ("second", 8),
        ("best", 4),
        ("ablation_choice", 2),
        ("ablation", 2),
        ("evaluation", 8),
        ("ablation_evaluation", 4),
        ("sequential_evaluation", 2),
        ("bins", 1),
        ("differences", 1),
        ("report", 1),
    ];
    let ran = counted(&run.ran);
    for (stage, count) in cells {
        assert_eq!(ran.get(stage), Some(&count), "{stage}");
    }
    assert_eq!(ran.len(), cells.len() + 10, "and the ten stages of data: {ran:?}");
    context.run(&[]).ran_just(&[]);

    let swept = ["lr", "warmup", "beta2", "weight_decay"];
    let with_floor = ["lr", "warmup", "beta2", "weight_decay", "lr_floor"];
    let path = |address: String| context.cwm(&["show", "--path", &address]).stdout;
    for family in FAMILIES {
        for size in SIZES {
            let cell = format!("family={family},size={size}");
            // By the losses of the trainings themselves; of one cell the second, as the paper has it.
            let rank = usize::from((family, size) == ("slice", "d16/l1"));
            let chosen = &ranked(&context, &cell)[rank];
            let choice = json(&context.output(&format!("choice[{cell}].choice")));
            agree(&choice["parameters"], chosen, &swept);
            let floors = ["0.1", "0.01"].map(|floor| {
                let label = format!("second[{cell},lr_floor={floor}]");
                let training = summary(&context, &label);
                agree(&training, chosen, &swept);
                assert_eq!((&training["steps"], training["lr_floor"].to_string()), (&3.into(), floor.to_owned()));
                (training["validation"]["loss"].as_f64().expect("a loss"), label, training)
            });
            // Of equal losses, the smaller floor.
            let better = if floors[0].0 < floors[1].0 { &floors[0] } else { &floors[1] };
            assert_eq!(path(format!("best[{cell}].checkpoint")), path(format!("{}.checkpoint", better.1)));
            if family == "slice" {
                let ablation = summary(&context, &format!("ablation[family=slice_diag,size={size}]"));
                agree(&ablation, &better.2, &with_floor);
            }
        }
    }
    // Diagonal SLiCE is there both ways, and what was chosen from.
    let table = rows(&context, "report-sweep", "candidates");
    assert_eq!(table.len(), 16 + 8, "{table:?}");
    let models: BTreeSet<String> = sequential(&context, "report-sweep");
    assert_eq!(models.len(), 2, "{models:?}");

    // Another choice in one cell: the trainings of that cell, the ablation that rests on it, and what tests them.
    context.edit("pipeline.yaml", "overrides: { slice: { d16/l1: { rank: 2 } } }", "overrides: {}");
    let mut again = BTreeSet::from(["bins", "differences", "report"].map(str::to_owned));
    for family in FAMILIES {
        again.extend(SIZES.map(|size| format!("choice[family={family},size={size}]")));
    }
    let (slice, diagonal) = ("family=slice,size=d16/l1", "family=slice_diag,size=d16/l1");
    again.extend(["0.1", "0.01"].map(|floor| format!("second[{slice},lr_floor={floor}]")));
    again.extend([format!("best[{slice}]"), format!("ablation_choice[{diagonal}]"), format!("ablation[{diagonal}]")]);
    for test in ["held_out", "random_uniform"] {
        again.insert(format!("evaluation[{slice},test={test}]"));
        again.insert(format!("ablation_evaluation[{diagonal},test={test}]"));
    }
    again.insert("sequential_evaluation[scan=sequential,size=d16/l1,test=random_uniform]".to_owned());
    let run = context.run(&[]);
    assert_eq!((run.raw.code, &run.ran), (0, &again), "{}", run.raw.stderr);
    let choice = json(&context.output(&format!("choice[{slice}].choice")));
    agree(&choice["parameters"], &ranked(&context, slice)[0], &swept);
}

/// Rows of models that were tested one position after the other.
fn sequential(context: &Context, folder: &str) -> BTreeSet<String> {
    let table = rows(context, folder, "table-10");
    table.into_iter().filter(|row| row.contains("scan=sequential") && row.contains(",this run,")).collect()
}

/// Table 7 of the paper at d128/l1: learning rate, warm-up, second moment, decay, floor; an ablation has its parent's.
const TABLE_7: [(&str, [f64; 5], &str); 7] = [
    ("transformer", [3e-3, 5000.0, 0.95, 0.0, 0.1], "tf32"),
    ("slice", [1e-3, 20000.0, 0.999, 1e-2, 0.1], "tf32"),
    ("mamba3", [3e-3, 10000.0, 0.95, 0.0, 0.01], "bf16"),
    ("gated_deltanet", [1e-3, 10000.0, 0.99, 0.0, 0.01], "tf32"),
    ("slice_diag", [1e-3, 20000.0, 0.999, 1e-2, 0.1], "tf32"),
    ("mamba2", [3e-3, 10000.0, 0.95, 0.0, 0.01], "tf32"),
    ("gated_deltanet_pos", [1e-3, 10000.0, 0.99, 0.0, 0.01], "tf32"),
];

#[test]
fn the_paper_trains_all_families_with_its_table_7() {
    let context = smaller(
        "paper.yaml",
        &[
            ("&sizes [d128/l1, d256/l2, d384/l4, d512/l6]", "&sizes [d32/l1]"),
            ("          d128/l1: {", "          d32/l1: {"),
        ],
    );
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    let ran = counted(&run.ran);
    let cells = [("choice", 7), ("model", 7), ("evaluation", 14), ("sequential_evaluation", 1), ("report", 1)];
    for (stage, count) in cells {
        assert_eq!(ran.get(stage), Some(&count), "{stage}");
    }
    for (family, numbers, precision) in TABLE_7 {
        let training = summary(&context, &format!("model[family={family},size=d32/l1]"));
        let found = ["lr", "warmup", "beta2", "weight_decay", "lr_floor"].map(|name| training[name].as_f64());
        assert_eq!(found, numbers.map(Some), "{family}");
        assert_eq!((&training["precision"], &training["steps"]), (&precision.into(), &3.into()), "{family}");
    }
    // Every family has its row, four beside the paper's main ones, three with the ablations; diagonal SLiCE one more.
    for (name, count) in [("table-08", 4), ("table-09", 3), ("table-10", 4)] {
        let table = rows(&context, "report-paper", name);
        let ours = table.iter().filter(|row| row.contains(",d32/l1,this run,"));
        assert_eq!(ours.count(), count, "{name}: {table:?}");
    }
    assert_eq!(sequential(&context, "report-paper").len(), 1);
    context.run(&[]).ran_just(&[]);
}
