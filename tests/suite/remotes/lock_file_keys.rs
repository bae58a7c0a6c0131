//! A remote lacks a result but has the results of its dependents. Their current keys are unknown, those in the lock file are known.

use std::fs;

use super::{CELLS, Lab, git_pull, sound, well};
use crate::context::Context;

/// A remote that has all but the record of `games`, whoever pushed it, and somebody else's clone.
fn without_games(lab: &Lab) -> (Context, Context) {
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]).ran_just(&CELLS);
    git_pull(&ada, &ben);
    let shown: serde_json::Value = serde_json::from_str(&well(ada.cwm(&["show", "--json", "games"])).stdout).unwrap();
    lab.files(shown[0]["key"].as_str().unwrap()).iter().for_each(|file| fs::remove_file(file).unwrap());
    (ada, ben)
}

#[test]
fn dependents_of_an_unavailable_result_are_pulled_by_the_keys_of_the_lock_file() {
    let lab = Lab::new();
    let (ada, ben) = without_games(&lab);
    let status = well(ben.cwm(&["status", "--remote", "-v"])).stdout;
    assert_eq!(status.matches("lab: present (by the lock file's key)").count(), CELLS.len() - 1, "{status}");
    let pulled = ben.cwm(&["pull"]);
    assert_eq!(pulled.code, 9, "{}", pulled.stderr);
    let missing = "missing:\n  games: no remote that was reached has a result of it\npulled 6 results";
    assert!(pulled.stderr.contains(missing), "{}", pulled.stderr);
    sound(&ben);
    // Once it is made again, all else is there.
    ben.run(&[]).ran_just(&["games"]);
    assert_eq!(ben.read("exported/out"), ada.read("exported/out"));
    assert_eq!(ben.read("pipeline.lock"), ada.read("pipeline.lock"));
    sound(&ben);

    // Of what is not named the record comes, without which nobody would know that it needs not run.
    let cleo = lab.person();
    git_pull(&ada, &cleo);
    let pulled = cleo.cwm(&["pull", "report"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("pulled 1 result"), "{}", pulled.stderr);
    let reported = "games: no remote that was reached has a result of it";
    assert!(pulled.stderr.contains(reported) && pulled.stderr.contains("1 missing"), "{}", pulled.stderr);
    cleo.run(&[]).ran_just(&["games"]);
    assert_eq!(cleo.read("exported/out"), ada.read("exported/out"));
}

#[test]
fn results_unavailable_under_the_keys_of_the_lock_file_are_reported() {
    let lab = Lab::new();
    let (ada, ben) = without_games(&lab);
    // The lock file names another result of its key than the remote has.
    let lock = ada.read("pipeline.lock");
    let line = lock.lines().find(|line| line.starts_with("\"report\"")).expect("a line");
    let (before, digest) = line.split_once("\"out\": \"").expect("an output");
    ben.write("pipeline.lock", &lock.replace(line, &format!("{before}\"out\": \"{}{}", "0".repeat(64), &digest[64..])));
    let pulled = ben.cwm(&["pull", "report"]);
    let reported = "report: no remote that was reached has the lock file's result of it";
    assert!(pulled.code == 9 && pulled.stderr.contains(reported), "{}", pulled.stderr);
    // It has none of it.
    ben.write("pipeline.lock", &lock.replace(&format!("{line}\n"), ""));
    let pulled = ben.cwm(&["pull", "report"]);
    let reported = "report: its key is not known: its inputs are not in the store, and the lock file has no key";
    assert!(pulled.code == 9 && pulled.stderr.contains(reported), "{}", pulled.stderr);
    // Nobody was asked at all.
    ben.write("pipeline.lock", &lock);
    fs::rename(lab.remote(), lab.folder.path().join("elsewhere")).unwrap();
    fs::remove_dir_all(ben.path("artifacts")).unwrap();
    let pulled = ben.cwm(&["pull", "report"]);
    assert!(
        pulled.code == 9 && pulled.stderr.contains("report: the remote `lab` was not reached"),
        "{}",
        pulled.stderr
    );
}
