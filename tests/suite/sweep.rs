//! The paper's two stages of training, in the miniature of `pipeline.yaml`: what a new result of the sweep runs again.

use std::collections::BTreeSet;
use std::path::Path;

use crate::context::Context;

const FAMILIES: [&str; 2] = ["transformer", "slice"];
const SIZES: [&str; 2] = ["d16/l1", "d32/l1"];

/// `pipeline.yaml` of the repository with fewer games.
fn miniature() -> Context {
    let context = Context::new();
    let yaml = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipeline.yaml");
    context.write("pipeline.yaml", &std::fs::read_to_string(yaml).expect("the pipeline"));
    for (old, new) in
        [("games: 5000", "games: 60"), ("validation: 500", "validation: 2000"), ("sweep_games: 400", "sweep_games: 16")]
    {
        context.edit("pipeline.yaml", old, new);
    }
    context
}

/// Families and sizes of the sweep.
fn cells() -> Vec<String> {
    FAMILIES.iter().flat_map(|family| SIZES.map(|size| format!("family={family},size={size}"))).collect()
}

fn json(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The cells of the second stage that rest on the choice of each of these cells.
fn second_stage<'a>(cells: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
    let of_cell = |cell: &String| {
        [format!("second[{cell},lr_floor=0.1]"), format!("second[{cell},lr_floor=0.01]"), format!("best[{cell}]")]
    };
    cells.into_iter().flat_map(of_cell).collect()
}

#[test]
fn a_new_result_of_the_sweep_trains_again_only_where_the_choice_changed() {
    let context = miniature();
    let run = context.run(&["best"]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    let count = |stage: &str| run.ran.iter().filter(|label| label.starts_with(&format!("{stage}["))).count();
    assert_eq!(["sweep", "choice", "second", "best"].map(count), [16, 4, 8, 4]);
    context.run(&["best"]).ran_just(&[]);

    // What is chosen is the first of the ranks, and the second stage trained with it.
    let mut chosen = Vec::new();
    for cell in cells() {
        let choice = &json(&context.output(&format!("choice[{cell}].choice")))[0];
        let ranks = json(&context.output(&format!("choice[{cell}].candidates")));
        assert_eq!((ranks.len(), &ranks[0]["rank"]), (4, &1.into()));
        assert!(ranks[0]["loss"].as_f64() <= ranks[1]["loss"].as_f64(), "{ranks:?}");
        assert_eq!(choice["parameters"], ranks[0]["parameters"]);
        let summary = context.output(&format!("second[{cell},lr_floor=0.1].summary"));
        let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
        for name in ["lr", "beta2"] {
            assert_eq!(summary["training"][name].as_f64(), choice["parameters"][name].as_f64(), "{name}");
        }
        chosen.push(choice["parameters"]["lr"].as_f64().expect("a number"));
    }

    // The checkpoint that is kept is the better floor's own, in one place of the store.
    for cell in cells() {
        let best = &json(&context.output(&format!("best[{cell}].candidates")))[0];
        let better = best["label"].as_str().expect("a label");
        let path = |address: String| context.cwm(&["show", "--path", &address]).stdout;
        assert_eq!(path(format!("best[{cell}].checkpoint")), path(format!("{better}.checkpoint")));
    }

    // A configuration that wins nowhere: it is trained, the choices are looked at, and that is all.
    context.edit("pipeline.yaml", "lr: [1.0e-3, 1.0e-2]", "lr: [1.0e-3, 1.0e-2, 1.0e-12]");
    let run = context.run(&["best"]);
    let is_new =
        |label: &String| label.starts_with("sweep[") && label.contains("lr=1e-12") || label.starts_with("choice[");
    assert_eq!((run.raw.code, run.ran.len()), (0, 12), "{:?}", run.ran);
    assert!(run.ran.iter().all(is_new), "{:?}", run.ran);
    context.edit("pipeline.yaml", "lr: [1.0e-3, 1.0e-2, 1.0e-12]", "lr: [1.0e-3, 1.0e-2]");
    context.run(&["best"]).ran_just(&[]);

    // One that won is taken away: the second stage runs again where it was chosen, and nowhere else.
    let (lost, kept) = if chosen[0] == 1e-3 { (1e-3, "1.0e-2") } else { (1e-2, "1.0e-3") };
    context.edit("pipeline.yaml", "lr: [1.0e-3, 1.0e-2]", &format!("lr: [{kept}]"));
    let changed: Vec<String> =
        cells().into_iter().zip(&chosen).filter(|(_, lr)| **lr == lost).map(|(cell, _)| cell).collect();
    assert!(!changed.is_empty());
    let mut expected = second_stage(&changed);
    expected.extend(cells().iter().map(|cell| format!("choice[{cell}]")));
    let run = context.run(&["best"]);
    assert_eq!(run.ran, expected, "{}", run.raw.stderr);
    context.edit("pipeline.yaml", &format!("lr: [{kept}]"), "lr: [1.0e-3, 1.0e-2]");
    context.run(&["best"]).ran_just(&[]);

    // An override for one cell: all choices are looked at, one has another result.
    let old = "with: { parameters: [lr, beta2] }";
    context.edit(
        "pipeline.yaml",
        old,
        "with: { parameters: [lr, beta2], overrides: { slice: { d16/l1: { rank: 2 } } } }",
    );
    let mut expected = second_stage([&"family=slice,size=d16/l1".to_owned()]);
    expected.extend(cells().iter().map(|cell| format!("choice[{cell}]")));
    let run = context.run(&["best"]);
    assert_eq!(run.ran, expected, "{}", run.raw.stderr);
    let overridden = json(&context.output("choice[family=slice,size=d16/l1].candidates"));
    assert_eq!((&overridden[1]["chosen"], &overridden[1]["why"]), (&true.into(), &"override: rank 2".into()));
    assert_eq!(context.cwm(&["store", "verify"]).code, 0);
}

/// The pipelines that few machines can run: that they are right, and what they hold, is reported without running them.
fn planned(file: &str) -> Vec<String> {
    let context = Context::new();
    let yaml = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/chess-world-model").join(file);
    context.write(file, &std::fs::read_to_string(yaml).expect("the pipeline"));
    let dag = context.cwm(&["status", "--graph", "-f", file]);
    assert_eq!(dag.code, 0, "{}", dag.stderr);
    let status = context.cwm(&["status", "-f", file, "--json"]);
    assert_eq!(status.code, 0, "{}", status.stderr);
    let cells: Vec<serde_json::Value> = serde_json::from_str(&status.stdout).expect("JSON");
    cells.iter().map(|cell| cell["label"].as_str().expect("a label").to_owned()).collect()
}

#[test]
fn the_papers_pipelines_hold_what_the_paper_has() {
    let count =
        |labels: &[String], stage: &str| labels.iter().filter(|label| label.split('[').next() == Some(stage)).count();
    let sweep = planned("sweep.yaml");
    let stages = ["sweep", "choice", "second", "best", "ablation", "evaluation", "ablation_evaluation"];
    assert_eq!(stages.map(|stage| count(&sweep, stage)), [1_728, 16, 32, 16, 12, 32, 24]);
    let paper = planned("paper.yaml");
    assert_eq!(["choice", "model", "evaluation"].map(|stage| count(&paper, stage)), [28, 28, 56]);
    let small = planned("small.yaml");
    assert_eq!(["model", "evaluation"].map(|stage| count(&small, stage)), [7, 14]);
}

/// The stages that two files both have are the same, so what one made the other finds.
#[test]
fn the_papers_pipelines_share_their_data() {
    let text = |file: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/chess-world-model").join(file))
            .expect("a file")
    };
    let stages = |file: &str| -> BTreeSet<String> {
        let text = text(file);
        let (_, stages) = text.split_once("\nstages:\n").expect("stages");
        stages.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).map(str::to_owned).collect()
    };
    let data = stages("paper-data.yaml");
    let of_data: BTreeSet<_> = data.iter().filter(|line| line.contains("{ stage:")).cloned().collect();
    assert_eq!(of_data.len(), 10, "{of_data:?}");
    for file in ["paper.yaml", "sweep.yaml"] {
        let missing: Vec<_> = of_data.difference(&stages(file)).cloned().collect();
        assert!(missing.is_empty(), "{file} has another {missing:?}");
    }
}

/// Two cells that wait for each other end only if both run at once, on one accelerator; a third would not fit.
#[test]
fn parts_of_an_accelerator_are_shared() {
    let context = Context::with(
        r#"cwm: 1
stages:
  half:
    stage: command
    matrix: { me: [a, b, c] }
    needs: { gpu: 0.5 }
    with:
      here: $me
      run: |
        mkdir "$MARKS/one" 2>/dev/null || mkdir "$MARKS/two"
        touch "$MARKS/$here"
        n=0
        until [ -e "$MARKS/a" ] && [ -e "$MARKS/b" ]; do
          n=$((n + 1)); [ $n -lt 3000 ]; sleep 0.02
        done
        rmdir "$MARKS/one" 2>/dev/null || rmdir "$MARKS/two"
        echo "$CUDA_VISIBLE_DEVICES" > "$out"
    env: [MARKS]
"#,
    );
    let marks = context.path("marks");
    std::fs::create_dir(&marks).expect("a folder");
    let mut command = context.command(&["run", "--json", "--jobs", "8"]);
    command.env("MARKS", &marks).env("CUDA_VISIBLE_DEVICES", "0");
    let run = crate::context::Run::read(crate::context::finish(command.output().expect("cwm starts")));
    run.ran_just(&["half[me=a]", "half[me=b]", "half[me=c]"]);
    let path = context.command(&["show", "--path", "half[me=b]"]).env("MARKS", &marks).output().expect("cwm starts");
    let path = String::from_utf8(path.stdout).expect("a path");
    let reported = std::fs::read_to_string(path.trim_end()).expect("the output");
    assert_eq!(reported, "0\n", "every one sees the whole of it");
}
