//! The process is killed at any instant, and no question is sent again whose answer was kept.

use std::collections::HashSet;
use std::process::{Command, Stdio};

use super::*;

const ITEMS: usize = 120;

/// Names the folder of a run that is to be killed.
const FOLDER: &str = "CWM_ANSWER_TEST_FOLDER";

/// The run that is killed: a process of this test's own.
#[test]
fn a_run_to_kill() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let url = std::env::var("CWM_ANSWER_TEST_URL").unwrap();
    trial(Path::new(&folder), ITEMS, &url).with("connections", Value::Int(8)).run(&Impatient).unwrap();
}

#[test]
fn after_kills_at_random_instants_only_what_is_missing_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(|_, request| {
        std::thread::sleep(Duration::from_millis(20));
        right(request)
    });
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["tests::kills::a_run_to_kill", "--exact"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.env(FOLDER, folder.path()).env("CWM_ANSWER_TEST_URL", &server.base).spawn().unwrap()
    };
    let journal = folder.path().join("work/checkpoints/answers.jsonl");
    let kept = || -> HashSet<usize> {
        let text = std::fs::read_to_string(&journal).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| line.split("_all_").nth(1).unwrap()[..4].parse().unwrap()).collect()
    };
    let (mut kills, mut seed) = (0, 1_u64);
    loop {
        let (before, asked_before) = (kept(), questions(&server).len());
        let mut child = start();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // From the first answer that is kept on, so that each run gets further.
        while kept().len() == before.len() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(seed >> 58));
        let is_done = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        // Requests that were under way reach the server's log.
        std::thread::sleep(Duration::from_millis(100));
        let again: Vec<usize> =
            questions(&server)[asked_before..].iter().map(asked).filter(|one| before.contains(one)).collect();
        assert!(again.is_empty(), "asked again: {again:?}");
        if is_done {
            break;
        }
        kills += 1;
    }
    assert!(kills >= 2, "{kills} kills");
    assert_eq!(kept().len(), ITEMS);
    check_right(&trial(folder.path(), ITEMS, &server.base).run(&Impatient).unwrap(), ITEMS);
    // Of each run at most what was open when it was killed, and the answer that was about to be kept.
    assert!(questions(&server).len() <= ITEMS + 9 * kills, "{} after {kills} kills", questions(&server).len());
}
