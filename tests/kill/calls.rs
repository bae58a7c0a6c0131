//! One system call after the other is the last, or fails: `strace` puts a kill or an error in its place.
//!
//! Counted by process, so the Nth call of the executor, of every stage's process and of every shell is hit alike.

use std::path::Path;
use std::process::Stdio;

use crate::expected::{INPUT, Undisturbed};
use crate::pipelines::Pipeline;
use crate::scene::{Ended, Scene, number};

/// The calls that change something, and those that find or open it.
const CALLS: [&str; 17] = [
    "write",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "unlink",
    "unlinkat",
    "rmdir",
    "link",
    "symlink",
    "fchmod",
    "chmod",
    "ftruncate",
    "flock",
    "openat",
];

/// The fault that replaces a call.
#[derive(Clone, Copy)]
enum Fault {
    /// The process is killed as it makes the call.
    Killed,
    /// The call fails once, with this error.
    Once(&'static str),
    /// The call fails from then on, with this error.
    Always(&'static str),
}

impl Fault {
    fn injection(self, call: &str, nth: u64) -> String {
        match self {
            Fault::Killed => format!("inject={call}:signal=SIGKILL:when={nth}"),
            Fault::Once(error) => format!("inject={call}:error={error}:when={nth}"),
            Fault::Always(error) => format!("inject={call}:error={error}:when={nth}+"),
        }
    }
}

/// The pipeline of a sweep: the same each time, with folders, a matrix, a join, equal bytes and exports.
fn pipeline() -> Pipeline {
    Pipeline::small()
}

#[test]
fn a_run_killed_at_any_system_call_is_completed_by_the_next() {
    sweep(&[Fault::Killed], number("CWM_KILL_FACTOR", 3));
}

#[test]
fn a_run_whose_system_calls_fail_reports_it_and_loses_nothing() {
    let errors = ["ENOSPC", "EIO", "EACCES"];
    let faults: Vec<Fault> = errors.iter().flat_map(|error| [Fault::Once(error), Fault::Always(error)]).collect();
    sweep(&faults, number("CWM_KILL_FACTOR", 9));
}

/// The first call of each kind with a fault, and each that is `factor` times as far; with 1, every call with every fault.
fn sweep(faults: &[Fault], factor: u64) {
    if !crate::tools(&["flock", "strace"]) {
        return;
    }
    let undisturbed = Undisturbed::of(&pipeline()).expect("an undisturbed run");
    let (mut hit, mut next) = (0, 0);
    for call in CALLS {
        let (mut of_call, mut nth) = (0, 1);
        loop {
            // In turn, so that few runs meet all of them.
            let chosen = if factor == 1 { faults } else { &faults[next % faults.len()..][..1] };
            let mut reached = 0;
            for fault in chosen {
                let injection = fault.injection(call, nth);
                match disturbed(&undisturbed, call, &injection) {
                    Ok(injected) => reached += u64::from(injected),
                    Err(what) => panic!("strace -f -e trace={call} -e {injection}: {what}"),
                }
            }
            if reached == 0 {
                break;
            }
            (of_call, next) = (of_call + reached, next + 1);
            nth = if factor == 1 { nth + 1 } else { nth * factor };
        }
        hit += of_call;
        println!("{call}: {of_call} faults");
    }
    assert!(hit > 0, "strace puts no fault anywhere");
    println!("{hit} faults in all");
}

/// A run with a fault, a check, and a run without; whether there was such a call.
fn disturbed(undisturbed: &Undisturbed, call: &str, injection: &str) -> Result<bool, String> {
    let scene = Scene::new();
    scene.write_old("input.txt", INPUT);
    let expected = &undisturbed.files[0];
    std::fs::write(scene.path("p.yaml"), &expected.text).map_err(|error| error.to_string())?;
    let trace = scene.path("trace");
    let (kind, log) = (format!("trace={call}"), trace.display().to_string());
    let before = ["strace", "-f", "-q", "-o", &log, "-e", &kind, "-e", injection];
    let mut command = scene.command(&before, &["run", "--json", "p.yaml"]);
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    scene.no_strays()?;
    if stderr.contains("panicked") || stdout.contains("panicked") {
        return Err(format!("it panics:\n{stdout}\n{stderr}"));
    }
    undisturbed.check(&scene)?;
    let ended = scene.cwm(&["run", "--json", "p.yaml"]);
    comes_to(&scene, &ended, expected)?;
    let verified = scene.cwm(&["store", "verify", "-f", "p.yaml"]);
    if verified.code != 0 {
        return Err(format!("`cwm store verify`: {}", verified.words()));
    }
    Ok(was_injected(&trace))
}

fn comes_to(scene: &Scene, ended: &Ended, expected: &crate::expected::Expected) -> Result<(), String> {
    if ended.code != expected.code || scene.read("p.lock") != expected.lock {
        return Err(format!("the next run, where code {} was expected: {}", expected.code, ended.words()));
    }
    Ok(())
}

fn was_injected(trace: &Path) -> bool {
    let text = std::fs::read(trace).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.contains("(INJECTED)") || text.contains("+++ killed by SIGKILL +++")
}
