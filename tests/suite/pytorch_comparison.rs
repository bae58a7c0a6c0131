//! Training beside PyTorch: the same weights, the same batches, the same curves.
//!
//! `tests/golden` has the runs and what PyTorch makes of them, and says how that was made.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::context::{Context, finish, shared};
use crate::python::python;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The family that is recomputed where there is a torch; the others would take as long each.
const RECOMPUTED: &str = "transformer";

/// The values that are compared, each with the relative difference that it may always have.
const FLOORS: [(&str, f64); 2] = [("loss", 1e-5), ("gradient_norm", 3e-4)];

fn golden(file: &str) -> String {
    let path = Path::new(ROOT).join("tests/golden").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

/// The lines of curves of one kind.
fn lines(curves: &str, kind: &str) -> Vec<Value> {
    let lines = curves.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["kind"] == kind).collect()
}

fn column(lines: &[Value], name: &str) -> Vec<f64> {
    lines.iter().map(|line| line[name].as_f64().unwrap_or_else(|| panic!("no {name} in {line}"))).collect()
}

/// A folder in which these stages of `pipeline.yaml` ran.
fn ran(stages: &[&str]) -> Context {
    let context = Context::with(&golden("pipeline.yaml"));
    context.write("games.jsonl", &golden("games.jsonl"));
    let run = context.run(stages);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    context
}

/// A curve may be as far from PyTorch's in fp64 as ten times what PyTorch's own fp32 has been so far, and `floor` times
/// the value: rounding alone drives runs apart, some families' sooner than others', and no two programs round alike. A
/// wrong ε of AdamW, a tenth more or less weight decay or one wrong learning rate are each beyond that.
#[track_caller]
fn assert_beside(what: &str, found: &[f64], of: &Value, floor: f64) {
    let (truth, apart) = (numbers(&of[what]), numbers(&of[format!("{what}_apart")]));
    assert_eq!(found.len(), truth.len());
    for (step, ((found, truth), apart)) in found.iter().zip(truth).zip(apart).enumerate() {
        let allowed = 10.0 * apart + floor * truth;
        assert!((found - truth).abs() <= allowed, "{what} of step {}: {found}, PyTorch has {truth}", step + 1);
    }
}

#[test]
fn every_family_trains_as_pytorch_does() {
    if !cfg!(all(feature = "import", feature = "tokenize", feature = "train")) {
        println!("skipped: built without the stages that train");
        return;
    }
    let context = ran(&["model"]);
    let golden: Value = serde_json::from_str(&golden("curves.json")).expect("JSON");
    let rates = numbers(&golden["learning_rate"]);
    let families: Vec<_> = golden.as_object().expect("an object").iter().filter(|(_, of)| of.is_object()).collect();
    assert_eq!(families.len(), 8);
    for (family, of) in families {
        println!("{family}");
        let curves = context.output(&format!("model[family={family}].curves"));
        let train = lines(&curves, "train");
        for (name, floor) in FLOORS {
            assert_beside(name, &column(&train, name), of, floor);
        }
        for (found, rate) in column(&train, "learning_rate").iter().zip(&rates) {
            assert!((found - rate).abs() <= 1e-15, "learning rate {found}, PyTorch was given {rate}");
        }
        let validation = lines(&curves, "validation");
        let last = validation.last().expect("a validation at the end");
        assert_eq!(last["step"], of["validation"]["step"]);
        // One of 661 positions, and of 49,575 labels, may be so near a tie that rounding decides it.
        for (name, allowed) in [("loss", 1e-5), ("labelwise", 5e-5), ("exact", 2e-3), ("trajectory", 0.0)] {
            let (found, truth) = (last[name].as_f64().unwrap(), of["validation"][name].as_f64().unwrap());
            assert!((found - truth).abs() <= allowed, "validation's {name}: {found}, PyTorch has {truth}");
        }
    }
}

#[test]
fn pytorch_gives_the_golden_curves_again() {
    let Some(python) = python("torch, numpy, pyarrow") else { return };
    if !cfg!(all(feature = "import", feature = "train")) {
        println!("skipped: built without the stages that train");
        return;
    }
    let cell = |stage: &str| format!("{stage}[family={RECOMPUTED}]");
    let context = ran(&[&cell("model"), &cell("start")]);
    let script = |name: &str| Path::new(ROOT).join("tests/python").join(name);
    let mut command = Command::new(&python);
    command.arg("-B").arg(script("golden_curves.py")).arg(env!("CARGO_BIN_EXE_cwm")).arg(RECOMPUTED);
    command.current_dir(context.path("")).env_remove("CWM_STORE");
    let ran = finish(command.output().expect("Python starts"));
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let again: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let golden: Value = serde_json::from_str(&golden("curves.json")).expect("JSON");
    for (name, _) in FLOORS {
        assert_beside(name, &numbers(&again[RECOMPUTED][name]), &golden[RECOMPUTED], 1e-8);
    }
    assert_eq!(again["learning_rate"], golden["learning_rate"]);
}

#[test]
fn the_pytorch_twin_equals_the_fixtures() {
    let Some(shared) = shared() else { return };
    let Some(python) = python("torch, numpy") else { return };
    let mut command = Command::new(&python);
    command.arg("-B").arg(Path::new(ROOT).join("tests/python/fixtures.py")).arg(shared.join("parity")).arg("tiny");
    let ran = finish(command.output().expect("Python starts"));
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    println!("{}", ran.stdout.trim());
}

#[test]
fn learning_rates_of_a_run_are_the_authors() {
    let Some(shared) = shared() else { return };
    if !cfg!(all(feature = "import", feature = "tokenize", feature = "train")) {
        println!("skipped: built without the stages that train");
        return;
    }
    let file = std::fs::read_to_string(shared.join("parity/lr-schedules.json")).expect("the authors' learning rates");
    let golden: Value = serde_json::from_str(&file).expect("JSON");
    let mut yaml = String::from(
        "cwm: 1\nstages:\n  corpus: { stage: import, with: { source: games.jsonl, check: false } }\n  games: { stage: tokenize, from: corpus }\n",
    );
    let shapes = ["cosine", "linear"];
    for shape in shapes {
        let of = &golden[shape];
        yaml += &format!(
            "  {shape}: {{ stage: train, from: games, with: {{ size: d16/l1, batch_size: 1, curve_every: 1, schedule: {shape}, \
             lr: {:e}, warmup: {}, horizon: {}, lr_floor: {}, steps: {} }} }}\n",
            of["lr"].as_f64().unwrap(),
            of["lr_warmup_steps"],
            of["lr_decay_steps"],
            of["lr_min_ratio"],
            numbers(&of["lr_used_at_step"]).len(),
        );
    }
    let context = Context::with(&yaml);
    context.write("games.jsonl", &self::golden("games.jsonl"));
    let run = context.run(&[]);
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
    for shape in shapes {
        let train = lines(&context.output(&format!("{shape}.curves")), "train");
        let expected = numbers(&golden[shape]["lr_used_at_step"]);
        assert_eq!(train.len(), expected.len());
        for (found, expected) in column(&train, "learning_rate").iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-15, "{shape}: {found} where {expected} was expected");
        }
    }
}
