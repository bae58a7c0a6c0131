//! The pages for people, held to what they say: what they tell to type is typed, and what they translate is run.

mod console;
#[path = "../../examples/own-stage/src/lib.rs"]
mod smooth;

use std::path::Path;
use std::process::Command;

use cwm_contract::testing::Trial;
use cwm_contract::{Stage, Value};
use cwm_core::Registry;
use cwm_pipeline::plan;

use crate::context::Context;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The fenced blocks of a page in this language, in order.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fences = page.split("```").skip(1).step_by(2);
    let texts = fences.filter_map(|fence| fence.split_once('\n'));
    texts.filter(|(of, _)| *of == language).map(|(_, text)| text.to_owned()).collect()
}

#[test]
fn the_commands_of_the_tutorial_work() {
    let context = Context::new();
    console::follow(&context, &blocks(&page("docs/tutorial.md"), "console"));
}

#[test]
fn an_own_model_fits_every_pipeline_as_the_page_describes() {
    if !cfg!(all(
        feature = "download",
        feature = "play",
        feature = "train",
        feature = "select",
        feature = "evaluate",
        feature = "bins",
        feature = "compare",
        feature = "report"
    )) {
        println!("skipped: built without all stages of the pipelines");
        return;
    }
    let text = page("docs/how-to/your-model.md");
    let block = &blocks(&text, "yaml")[0];
    for (name, file, games) in [
        ("`cwm init`", "src/commands/init/pipeline.yaml", "tokens.validation"),
        ("`lichess.yaml`", "pipelines/chess-world-model/lichess.yaml", "tokens.validation"),
        ("`pipeline.yaml`", "pipeline.yaml", "held_out.dataset"),
    ] {
        let listed = |line: &str| line.starts_with('|') && line.contains(name) && line.contains(games);
        assert!(text.lines().any(listed), "the page lists {games} for {name}");
        let stage = block.replace("tokens.validation", games);
        let with_mine = |line: &str| match line.starts_with("  bins:") {
            true => line
                .replace("scores: [evaluation", "scores: [mine, evaluation")
                .replace("scores: evaluation", "scores: [evaluation, mine]"),
            false => line.to_owned(),
        };
        let pipeline = page(file).lines().map(with_mine).collect::<Vec<_>>().join("\n");
        let context = Context::with(&pipeline.replacen("\nstages:\n", &format!("\nstages:\n{stage}"), 1));
        context.write("held_out.parquet", "");
        let dry = context.cwm(&["run", "--dry-run"]);
        assert_eq!(dry.code, 0, "{file}: {}{}", dry.stdout, dry.stderr);
        let graph = context.cwm(&["status", "--graph", "--json"]).stdout;
        let nodes: Vec<serde_json::Value> = serde_json::from_str(&graph).expect("JSON");
        let reads = |stage: &str| nodes.iter().find(|node| node["name"] == stage).expect("the stage")["from"].clone();
        assert!(reads("bins").as_array().expect("a list").contains(&"mine".into()), "{file}: {graph}");
        // Its games are those of the other models, which have the name `held_out`, the default.
        let stages: Vec<&str> = games.split('.').take(1).collect();
        assert_eq!(reads("mine"), serde_json::json!(stages), "{file}: {graph}");
    }
}

#[test]
fn a_stage_of_ones_own_is_planned_checked_and_writes_equal_bytes() {
    let file = Path::new(ROOT).join("examples/own-stage/pipeline.yaml");
    let registry = Registry::new(vec![&smooth::Smooth], &[], |_, _| Ok(Default::default()));
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("pipeline.yaml");
    std::fs::copy(file, &copy).expect("a copy");
    let curves = Path::new(ROOT).join("examples/own-stage/curves.jsonl");
    std::fs::copy(curves, folder.path().join("curves.jsonl")).expect("curves");
    let plan = plan::load(&copy, &[], &registry).unwrap_or_else(|faults| panic!("{faults}"));
    let cell = &plan.cells[plan.select("smooth").expect("the stage")[0]];
    assert_eq!(cell.values["window"], Value::Int(3));
    let wrong = plan::load(&copy, &[("window".into(), "0".into())], &registry).expect_err("a window of nothing");
    assert!(wrong.to_string().contains("must be an integer from 1 to 1000000"), "{wrong}");

    let run = |name: &str, cores: usize| {
        let trial = Trial::new(folder.path().join(name)).cores(cores).with("window", Value::Int(2));
        let outcome = trial.input("curves", folder.path().join("curves.jsonl")).run(&smooth::Smooth);
        let outcome = outcome.unwrap_or_else(|failure| panic!("{failure:?}"));
        std::fs::read_to_string(&outcome.outputs["smooth"]).expect("what it wrote")
    };
    let written = run("one", 1);
    let losses: Vec<serde_json::Value> = written
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["loss"].clone())
        .collect();
    assert_eq!(serde_json::json!(losses), serde_json::json!([4.0, "nan", 3.0, 9.0, 1.5]));
    assert_eq!(run("two", 2), written);
    assert!(
        page("docs/own-stage.md").contains("pub window: u64 = 10, kind = Type::Integer { min: 1, max: 1_000_000 },")
    );
    assert!(!smooth::Smooth.description().is_empty());
}

#[test]
fn git_ignores_what_the_pipelines_of_the_repository_write() {
    let git = |arguments: &[&str]| Command::new("git").args(arguments).current_dir(ROOT).output();
    if !git(&["ls-files", "--error-unmatch", ".gitignore"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: this is no checkout, or there is no git");
        return;
    }
    for (folder, pipeline) in [
        ("", "pipeline.yaml"),
        ("pipelines/chess-world-model/", "small.yaml"),
        ("pipelines/chess-world-model/", "lichess.yaml"),
        ("pipelines/chess-world-model/", "evening.yaml"),
        ("examples/pytorch/", "pipeline.yaml"),
        ("examples/own-stage/", "pipeline.yaml"),
    ] {
        let text = page(&format!("{folder}{pipeline}"));
        let exported = text.lines().filter_map(|line| line.strip_prefix("export: { report: ")?.strip_suffix("/ }"));
        for written in exported.chain(["artifacts"]) {
            let file = format!("{folder}{written}/file");
            let ignored = git(&["check-ignore", "-q", &file]).expect("git starts").status.success();
            assert!(ignored, "git does not ignore {file}, which `cwm run {folder}{pipeline}` may write");
        }
    }
}

/// Little programs that the translated pipelines call.
fn programs(context: &Context) {
    context.write_old("data.csv", "3\n1\n2\n");
    let head = "import sys\n";
    context.write_old(
        "prepare.py",
        &format!("{head}source, out, ratio = sys.argv[1:]\nopen(out, 'w').writelines(f'{{int(line) * int(ratio)}}\\n' for line in open(source))\n"),
    );
    context.write_old(
        "train.py",
        &format!("{head}source, out, depth = sys.argv[1:]\nopen(out, 'w').write(str(sum(int(line) for line in open(source)) ** int(depth)) + '\\n')\n"),
    );
    context
        .write_old("evaluate.py", &format!("{head}for path in sys.argv[1:]:\n    print(open(path).read().strip())\n"));
}

/// Returns true if a program is there; prints that the test is skipped if it is not.
fn is_there(program: &str, how: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
        assert!(required.split(',').all(|name| name != program), "{program} is required (CWM_REQUIRE): {how}");
        println!("skipped: {program} ({how})");
    }
    found
}

#[test]
fn pipelines_translated_from_dvc_and_snakemake_give_the_same_files() {
    if !is_there("python3", "apt-get install python3") {
        return;
    }
    let text = page("docs/coming-from.md");
    let (yaml, python) = (blocks(&text, "yaml"), blocks(&text, "python"));
    let [dvc, ours] = yaml.as_slice() else { panic!("two blocks of YAML") };
    let context = Context::with(ours);
    programs(&context);
    let run = context.run(&[]);
    run.ran_just(&["prepare", "train[depth=1]", "train[depth=2]", "evaluate"]);
    let scores = context.read("scores/out");
    assert_eq!(scores, "12\n144\n");
    assert!(context.run(&[]).ran.is_empty());
    // The programs call `python`, as people write it.
    let call = |program: &str, arguments: &[&str], files: &[(&str, &str)]| {
        let other = Context::new();
        programs(&other);
        files.iter().for_each(|(name, text)| other.write(name, text));
        let mut command = Command::new(program);
        command.args(arguments).current_dir(other.path("")).env("HOME", other.path(""));
        let ran = crate::context::finish(command.output().expect("it starts"));
        assert_eq!(ran.code, 0, "{program}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(other.read("scores.txt"), scores, "{program}");
    };
    if is_there("python", "apt-get install python-is-python3") {
        if is_there("snakemake", "pip install snakemake") {
            call("snakemake", &["--cores", "1"], &[("Snakefile", &python[0])]);
        }
        if is_there("dvc", "pip install dvc") {
            let files = [
                ("dvc.yaml", dvc.as_str()),
                ("params.yaml", "ratio: 2\n"),
                (".dvc/config", "[core]\n    no_scm = true\n    analytics = false\n"),
            ];
            call("dvc", &["repro"], &files);
        }
    }
}
