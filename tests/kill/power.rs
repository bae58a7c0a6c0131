//! The power goes: what was on its way to the disk is lost, and what a run had reported as recorded is there.
//!
//! `power_loss.sh` shuts a real file system down without writing what it holds in memory. That a result is recorded is
//! noted outside of it, from the events of the run: none of these may run again.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::dice::Dice;
use crate::expected::{INPUT, Undisturbed};
use crate::pipelines::Pipeline;
use crate::scene::{Scene, binary, number};
use crate::store_truth::{self, entries};

/// An exit code of `power_loss.sh`: this machine cannot do it.
const CANNOT: i32 = 3;

#[test]
fn reported_results_survive_a_loss_of_power() {
    if !crate::tools(&["flock", "bash"]) {
        return;
    }
    let undisturbed = Undisturbed::of(&Pipeline::small()).expect("an undisturbed run");
    let mut dice = Dice::new(number("CWM_KILL_SEED", 1), 0);
    for kind in ["ext4", "xfs"] {
        let mut reported = 0;
        for cut in 0..number("CWM_KILL_CUTS", 2) {
            let seconds = dice.below((undisturbed.seconds * 2000.0) as usize) as f64 / 1000.0;
            match power_cut(&undisturbed, kind, seconds) {
                Ok(Some(recorded)) => reported += recorded,
                Ok(None) => break,
                Err(what) => panic!("cut {cut} of {kind} after {seconds} s: {what}"),
            }
        }
        println!("{kind}: {reported} results were recorded before the power went, and none was lost");
    }
}

/// Returns the number of results that were reported before the power went; `None` if this machine cannot do it.
fn power_cut(undisturbed: &Undisturbed, kind: &str, seconds: f64) -> Result<Option<usize>, String> {
    let scene = Scene::at(&std::env::temp_dir());
    let expected = &undisturbed.files[0];
    let (events, kept) = (scene.path("events"), scene.path("kept"));
    let run = |output: &Path| {
        let (binary, home) = (binary().display().to_string(), scene.path("").display().to_string());
        format!("cd \"$MNT\" && HOME={home} {binary} run --json --store store p.yaml > {} 2>&1", output.display())
    };
    fs::write(scene.path("p.yaml"), &expected.text).map_err(|error| error.to_string())?;
    scene.write_old("input.txt", INPUT);
    let setup = format!("cp -p {0}/p.yaml {0}/input.txt \"$MNT\"", scene.path("").display());
    let command = run(&events);
    // As it was found, before anything is mended; then once more.
    let (found, after) = (kept.display(), scene.path("p.lock").display().to_string());
    let check = format!("cp -a \"$MNT\" {found}; {}; cp \"$MNT/p.lock\" {after}", run(&scene.path("again")));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kill/power_loss.sh");
    let mut cut = Command::new(script);
    let output = cut.arg(kind).arg(scene.path("disk")).arg(seconds.to_string()).args([setup, command, check]).output();
    let output = output.map_err(|error| error.to_string())?;
    let words = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(CANNOT) {
        println!("skipped: {kind} without power ({})", words.trim());
        return Ok(None);
    }
    if !output.status.success() {
        return Err(format!("{words}\n{}", scene.read("again")));
    }
    let found = store_truth::recorded(&kept.join("store"), false)?;
    let mut reported = 0;
    for key in finished(&scene.read("events")) {
        reported += 1;
        if !found.contains_key(&key) {
            return Err(format!("{key} had been reported as recorded, and is gone"));
        }
    }
    let lock = scene.read("p.lock");
    if lock != expected.lock {
        return Err(format!("the next run comes to\n{lock}\n{}", scene.read("again")));
    }
    let half = entries(&kept.join("exported-p/file")).len() == 1 && kept.join("exported-p/file/out").is_file();
    let text = fs::read_to_string(kept.join("exported-p/file/out")).unwrap_or_default();
    if half && expected.exports.get("file/out") != Some(&text) {
        return Err(format!("half an export: {text:?}"));
    }
    Ok(Some(reported))
}

/// The keys of the results that a run reported.
fn finished(events: &str) -> Vec<String> {
    let events = events.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let ended: Vec<serde_json::Value> = events.collect();
    let label_of = |event: &serde_json::Value| event["label"].as_str().map(str::to_owned);
    let done: Vec<String> = ended.iter().filter(|event| event["event"] == "finished").filter_map(label_of).collect();
    let started = ended.iter().filter(|event| event["event"] == "started");
    let keys = started.filter(|event| label_of(event).is_some_and(|label| done.contains(&label)));
    keys.filter_map(|event| event["key"].as_str().map(str::to_owned)).collect()
}
