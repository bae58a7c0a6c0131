//! Damaged stores: commands report it, no wrong content is taken for right, `verify` finds it, and `run` repairs it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::damage::damage;
use crate::dice::Dice;
use crate::expected::{Expected, INPUT, MAY_RUN_AGAIN, Undisturbed};
use crate::pipelines::Pipeline;
use crate::scene::{Ended, Scene, number};
use crate::store_truth;

#[test]
fn a_damaged_store_gives_no_wrong_result_and_is_repaired() {
    if !crate::tools(&["flock"]) {
        return;
    }
    let undisturbed = Undisturbed::of(&Pipeline::small()).expect("an undisturbed run");
    let whole = Scene::new();
    whole.write_old("input.txt", INPUT);
    // A run of another parameter is killed in the middle, so that there is unfinished work too.
    for (expected, code) in [(&undisturbed.files[0], 0), (&undisturbed.files[1], 137)] {
        put(&whole, expected);
        let started = whole.start(1, &["run", "--json", "p.yaml"]);
        if code == 137 {
            while store_truth::entries(&whole.store().join("work")).is_empty() {
                std::thread::yield_now();
            }
            crate::processes::kill(started.pid());
        }
        assert_eq!(started.end().code, code);
    }
    whole.no_strays().expect("no strays");
    put(&whole, &undisturbed.files[0]);
    let (count, seed) = (number("CWM_KILL_STATES", 25), number("CWM_KILL_SEED", 1));
    let (mut found, mut refused) = (0, 0);
    for state in number("CWM_KILL_FIRST", 0)..number("CWM_KILL_FIRST", 0) + count {
        let mut dice = Dice::new(seed, state);
        let scene = Scene::new();
        fs::write(scene.path(MAY_RUN_AGAIN), "").expect("a file");
        copy(&whole, &scene);
        put(&scene, &undisturbed.files[0]);
        let what: Vec<String> = (0..1 + dice.below(3)).map(|_| damage(&mut dice, &scene.store())).collect();
        match heals(&mut dice, &scene, &undisturbed.files) {
            Ok(reported) => {
                found += u64::from(reported);
                refused += u64::from(!reported);
            }
            Err(error) => {
                let folder = scene.keep();
                panic!(
                    "CWM_KILL_SEED={seed} CWM_KILL_FIRST={state} CWM_KILL_STATES=1 shows it again: {error}\nafter: {}\nin {}",
                    what.join("; "),
                    folder.display()
                );
            }
        }
        if state % 500 == 499 {
            println!("{} damaged stores", state + 1);
        }
    }
    println!("{count} damaged stores: `verify` had something to tell of {found}, and nothing of {refused}");
}

fn put(scene: &Scene, expected: &Expected) {
    fs::write(scene.path("p.yaml"), &expected.text).expect("a pipeline");
}

fn copy(from: &Scene, to: &Scene) {
    let copy = |name: &str| {
        let done = Command::new("cp").arg("-a").arg(from.path(name)).arg(to.path("")).status();
        assert!(done.is_ok_and(|status| status.success()), "cp -a {name}");
    };
    ["store", "input.txt", "p.lock"].into_iter().for_each(copy);
}

/// Checks that commands report the damage and that a run repairs it; returns true if `verify` reported any.
fn heals(dice: &mut Dice, scene: &Scene, files: &[Expected]) -> Result<bool, String> {
    let (run_first, expected) = (dice.chance(60), &files[0]);
    for arguments in
        [&["status", "p.yaml"][..], &["why", "s0", "-f", "p.yaml"], &["show", "--path", "s0", "-f", "p.yaml"]]
    {
        in_words(&scene.cwm(arguments)).map_err(|what| format!("`cwm {}`: {what}", arguments.join(" ")))?;
    }
    if run_first {
        // With another parameter stages run, and read what may be damaged.
        let first = dice.one_of(&files[..2]);
        put(scene, first);
        let ended = scene.cwm(&["run", "--json", "p.yaml"]);
        in_words(&ended).map_err(|what| format!("a run: {what}"))?;
        if ended.code == first.code {
            same(scene, first).map_err(|what| format!("a run that calls itself well: {what}"))?;
        }
        put(scene, expected);
    }
    let truth = store_truth::recorded(&scene.store(), false);
    let verify = scene.cwm(&["store", "verify", "-f", "p.yaml"]);
    in_words(&verify).map_err(|what| format!("`cwm store verify`: {what}"))?;
    if let (Err(wrong), 0) = (&truth, verify.code) {
        return Err(format!("`cwm store verify` finds nothing, and there is: {wrong}"));
    }
    if is_refused(scene, &verify) {
        return Ok(true);
    }
    let run = scene.cwm(&["run", "--json", "p.yaml"]);
    if run.code != expected.code {
        return Err(format!("the run after `verify` ({}): {}", verify.words(), run.words()));
    }
    same(scene, expected)?;
    Ok(verify.code != 0)
}

/// Returns true if the store is none any more, or of another version, which every command reports and none repairs.
fn is_refused(scene: &Scene, verify: &Ended) -> bool {
    let format = store_truth::plain(&scene.store().join("format")).unwrap_or_default();
    verify.code == 4 && format != b"1\n" && verify.stderr.contains("error: ")
}

fn same(scene: &Scene, expected: &Expected) -> Result<(), String> {
    let lock = scene.read("p.lock");
    if lock != expected.lock {
        return Err(format!("the lock file is\n{lock}\nand undisturbed\n{}", expected.lock));
    }
    for (name, text) in &expected.exports {
        let found = scene.read(&Path::new("exported-p").join(name).display().to_string());
        if found != *text {
            return Err(format!("{name} was exported as {found:?}, and undisturbed as {text:?}"));
        }
    }
    Ok(())
}

/// It ended by itself, with one of the documented codes, and said why.
fn in_words(ended: &Ended) -> Result<(), String> {
    let known = [0, 1, 2, 4, 5].contains(&ended.code) || ended.code == 70 && ended.stderr.contains("error: ");
    let words = !ended.stderr.contains("panicked") && !ended.stdout.contains("panicked");
    let said = ended.code == 0 || !ended.stderr.is_empty() || !ended.stdout.is_empty();
    if known && words && said { Ok(()) } else { Err(ended.words()) }
}
