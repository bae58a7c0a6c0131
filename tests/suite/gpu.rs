//! Fixtures and trainings on a GPU, by a binary that was built for GPUs.
//!
//! The binary of this build has none, so `CWM_GPU_BINARY` names another one, and `CWM_TEST_DEVICE` its device (`wgpu:0` by default:
//! Mesa's Vulkan driver in software is enough). It has the stages of a training and `model-tools`. Cargo builds all binaries in one
//! place, so copy it:
//!
//! ```text
//! cargo build --release --no-default-features --features play,parse,tokenize,train,evaluate,model-tools,wgpu
//! cp target/release/cwm /tmp/cwm-gpu
//! CWM_GPU_BINARY=/tmp/cwm-gpu cargo test --release --test suite gpu::
//! ```
//!
//! With `CWM_TEST_DEVICE=cuda:0` a binary with the feature `cuda` is tested on a GPU of NVIDIA, or on the emulator that
//! `tests/gpu/setup emulate` makes.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use rustix::process::Signal;
use serde_json::Value;

use crate::context::{Context, Ran, Run, finish, shared};
use crate::training::interruption::{checkpoints, send, stage_of, wait_minutes};

/// The largest relative differences between a GPU's and the processor's training of 50 steps. On an H100 they were 2e-8 and 3e-7
/// (docs/design/devices.md).
const LOSS: f64 = 1e-6;
const GRADIENT_NORM: f64 = 1e-4;

/// A fixture is compared in several implementations, one of them with all arrays on the device.
const ON_DEVICE: &str = " (on device)";

/// One test at a time has the GPU.
static TURN: Mutex<()> = Mutex::new(());

/// A binary, and a device that it can use.
struct Gpu {
    binary: PathBuf,
    device: String,
}

impl Gpu {
    /// The GPU under test; else says, in words, that the test is skipped, unless `CWM_REQUIRE` names `vulkan` (or, for CUDA,
    /// `cuda-emulator`).
    fn find() -> Option<Gpu> {
        let device = std::env::var("CWM_TEST_DEVICE").ok().filter(|name| name != "cpu");
        let device = device.unwrap_or_else(|| "wgpu:0".to_owned());
        let found = std::env::var_os("CWM_GPU_BINARY").ok_or("CWM_GPU_BINARY names no binary for GPUs".to_owned());
        let found = found.and_then(|binary| {
            let gpu = Gpu { binary: binary.into(), device: device.clone() };
            let listed = gpu.cwm(&Context::new(), &["model", "devices"]);
            let line = listed.stdout.lines().find(|line| line.split_whitespace().next() == Some(device.as_str()));
            match line.filter(|line| !line.contains("not usable")) {
                Some(_) => Ok(gpu),
                None => Err(format!("{} has no {device}: {}{}", gpu.binary.display(), listed.stdout, listed.stderr)),
            }
        });
        let name = if device.starts_with("wgpu") { "vulkan" } else { "cuda-emulator" };
        let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
        match found {
            Ok(gpu) => Some(gpu),
            Err(how) if required.split(',').any(|required| required == name) => {
                panic!("{name} is required (CWM_REQUIRE): {how}")
            }
            Err(how) => {
                println!("skipped: {name} ({how})");
                None
            }
        }
    }

    /// A command of the binary in a context's folder.
    fn command(&self, context: &Context, arguments: &[&str]) -> Command {
        let own = context.command(arguments);
        let mut command = Command::new(&self.binary);
        command.args(own.get_args()).current_dir(context.path("")).stdin(Stdio::null());
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn cwm(&self, context: &Context, arguments: &[&str]) -> Ran {
        finish(self.command(context, arguments).output().expect("the binary starts"))
    }

    /// Runs the pipeline on a device; everything must go well.
    #[track_caller]
    fn run(&self, context: &Context, device: &str) {
        let run = Run::read(self.cwm(context, &["run", "--json", "--device", device]));
        assert_eq!(run.raw.code, 0, "{device}: {:?}\n{}", run.failed, run.raw.stderr);
        let shown = self.cwm(context, &["show", "model"]).stdout;
        assert!(shown.contains(&format!("device      {device}")), "{shown}");
    }

    /// The curves of the training: loss and norm of the gradient by step.
    fn curves(&self, context: &Context) -> Vec<[f64; 2]> {
        let path = self.cwm(context, &["show", "--path", "model.curves"]);
        let text =
            std::fs::read_to_string(path.stdout.trim()).unwrap_or_else(|error| panic!("{error}: {}", path.stderr));
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let numbers = |line: Value| ["loss", "gradient_norm"].map(|name| line[name].as_f64().expect("a finite number"));
        lines.filter(|line| line["kind"] == "train").map(numbers).collect()
    }
}

/// A training of a few games, with `with` added to its parameters.
fn training(with: &str) -> String {
    format!(
        "
cwm: 1
stages:
  games: {{ stage: play, with: {{ policy: engine, depth: 1, games: 8, max_plies: 40 }} }}
  corpus: {{ stage: parse, from: games, with: {{ ids: site }} }}
  tokens: {{ stage: tokenize, from: corpus }}
  model:
    stage: train
    from: {{ train: tokens.dataset }}
    with: {{ batch_size: 2, curve_every: 1, micro_batch_tokens: 1000000, {with} }}
"
    )
}

#[test]
fn the_authors_fixtures_agree_with_all_arrays_on_the_gpu_too() {
    let Some(shared) = shared() else { return };
    let Some(gpu) = Gpu::find() else { return };
    let _turn = TURN.lock();
    let entries = std::fs::read_dir(shared.join("parity")).expect("fixtures").map_while(Result::ok);
    let mut files: Vec<String> = entries.map(|entry| entry.path().to_string_lossy().into_owned()).collect();
    files.retain(|file| file.ends_with("-tiny.safetensors"));
    files.sort();
    assert!(files.len() >= 8, "{files:?}");
    let mut arguments = vec!["model", "parity", "--json", "--device", &gpu.device];
    arguments.extend(files.iter().map(String::as_str));
    let ran = gpu.cwm(&Context::new(), &arguments);
    let compared: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    for file in &compared {
        println!("{} {} {} {}", file["name"], file["outcome"], file["worst"], file["error"]);
        let quantities = file["quantities"].as_array().map(Vec::as_slice).unwrap_or_default();
        let beyond: Vec<&Value> = quantities.iter().filter(|quantity| quantity["beyond"] == true).collect();
        assert!(file["outcome"] == "within", "{}: {beyond:#?} {}", file["name"], file["error"]);
        let is_trained_there =
            |quantity: &Value| quantity["name"].as_str().is_some_and(|name| name.ends_with(ON_DEVICE));
        assert!(quantities.iter().any(is_trained_there), "{}: nothing was trained on the device", file["name"]);
    }
    assert!(ran.code == 0 && compared.len() == files.len(), "{}", ran.stderr);
}

#[test]
fn trainings_of_three_families_are_those_of_the_processor() {
    let Some(gpu) = Gpu::find() else { return };
    let _turn = TURN.lock();
    let mut offenders = Vec::new();
    // Mamba-2 has heads of 64 channels.
    for (family, size) in [("transformer", "d16/l1"), ("mamba2", "d32/l1"), ("gated_deltanet", "d16/l1")] {
        let with = format!("family: {family}, size: {size}, steps: 50, warmup: 10, lr: 0.005");
        let context = || Context::with(&training(&with));
        let [cpu, on_gpu] = ["cpu", &gpu.device].map(|device| {
            let context = context();
            gpu.run(&context, device);
            gpu.curves(&context)
        });
        assert!(cpu.len() == 50 && on_gpu.len() == 50, "{} {}", cpu.len(), on_gpu.len());
        assert!(cpu[49][0] < 0.9 * cpu[0][0], "{family} learns nothing: {:?} {:?}", cpu[0], cpu[49]);
        for (quantity, (name, most)) in
            [("loss", LOSS), ("norm of the gradient", GRADIENT_NORM)].into_iter().enumerate()
        {
            let differences = cpu.iter().zip(&on_gpu);
            let differences = differences.map(|(a, b)| (b[quantity] - a[quantity]).abs() / a[quantity].abs());
            let (step, worst) = differences.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).expect("50 steps");
            let line = format!("{family}: {name}: largest relative difference {worst:.1e}, in step {}", step + 1);
            println!("{line}");
            if worst.is_nan() || worst > most {
                offenders.push(format!("{line}, at most {most:e}"));
            }
        }
    }
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}

/// WGSL has no such numbers, and its backend computed something else without an error.
#[test]
fn a_gpu_computes_in_bf16_as_the_processor_does_or_refuses_it() {
    let Some(gpu) = Gpu::find() else { return };
    if std::env::var_os("CWM_GPU_EMULATE").is_some() {
        return println!("skipped: bf16 (the emulator knows no tensor cores)");
    }
    let _turn = TURN.lock();
    let yaml = training("family: transformer, size: d16/l1, steps: 3, precision: bf16");
    let context = Context::with(&yaml);
    let run = Run::read(gpu.cwm(&context, &["run", "--json", "--device", &gpu.device]));
    if run.raw.code != 0 {
        let Ran { stdout, stderr, .. } = &run.raw;
        assert!(stdout.contains("cannot compute in `bf16`"), "{stdout}{stderr}");
        return;
    }
    let on_cpu = Context::with(&yaml);
    gpu.run(&on_cpu, "cpu");
    for (cpu, found) in gpu.curves(&on_cpu).iter().zip(gpu.curves(&context)) {
        assert!(cpu.iter().zip(found).all(|(a, b)| (a - b).abs() <= 0.02 * a.abs()), "{cpu:?} {found:?}");
    }
}

#[test]
fn a_training_on_a_gpu_killed_twice_ends_with_the_same_bytes() {
    let Some(gpu) = Gpu::find() else { return };
    let _turn = TURN.lock();
    let yaml = training("family: transformer, size: d16/l1, dropout: 0.1, steps: 40, checkpoint_every: 3");
    let undisturbed = Context::with(&yaml);
    gpu.run(&undisturbed, &gpu.device);
    let context = Context::with(&yaml);
    for (step, kills_stage) in [(6, true), (18, false)] {
        let mut command = gpu.command(&context, &["run", "--json", "--device", &gpu.device]);
        let mut executor = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
        let is_there = wait_minutes(10, &mut executor, || checkpoints(&context).iter().any(|kept| *kept >= step));
        assert!(is_there, "it ended before step {step}");
        match stage_of(&executor).filter(|_| kills_stage) {
            Some(stage) => send(Signal::KILL, stage),
            None => executor.kill().expect("a kill"),
        }
        executor.wait().expect("an end");
        let kept = checkpoints(&context);
        assert!(kept.iter().all(|kept| *kept < 40), "it was over before it was killed: {kept:?}");
    }
    gpu.run(&context, &gpu.device);
    let log = gpu.cwm(&context, &["log", "model"]).stdout;
    assert!(log.contains("resuming after step "), "{log}");
    assert_eq!(context.read("pipeline.lock"), undisturbed.read("pipeline.lock"));
}
