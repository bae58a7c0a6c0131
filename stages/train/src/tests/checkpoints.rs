//! Checkpoints that are damaged or cannot be read.

use std::path::{Path, PathBuf};

use cwm_contract::{Event, FailureKind};

use super::resume::{is_validated, never};
use super::{data, run_until, written};

const LAST: &str = "step-000000000008.safetensors";
const BEFORE: &str = "step-000000000004.safetensors";

fn keep_of(work: &Path) -> PathBuf {
    work.join("checkpoints")
}

/// Names of what is kept, sorted.
fn names(work: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(keep_of(work)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A work folder as a kill after step 8 of 9 leaves it: the curves, and checkpoints after steps 4 and 8.
struct KilledRun {
    data: tempfile::TempDir,
    work: tempfile::TempDir,
    outputs: Vec<Vec<u8>>,
}

impl KilledRun {
    fn new() -> Self {
        let (data, work) = (data(), tempfile::tempdir().unwrap());
        run_until(work.path(), data.path(), never, 1).unwrap();
        let outputs = written(work.path());
        assert_eq!(names(work.path()), ["curves.jsonl", BEFORE, LAST]);
        KilledRun { data, work, outputs }
    }

    fn path(&self, name: &str) -> PathBuf {
        keep_of(self.work.path()).join(name)
    }

    /// The same in another folder.
    fn copy(&self) -> tempfile::TempDir {
        let work = tempfile::tempdir().unwrap();
        std::fs::create_dir(keep_of(work.path())).unwrap();
        for name in names(self.work.path()) {
            std::fs::copy(self.path(&name), keep_of(work.path()).join(name)).unwrap();
        }
        work
    }

    fn run(&self, work: &Path, on: fn(&Event) -> bool, after: usize) -> Result<(), cwm_contract::Failure> {
        run_until(work, self.data.path(), on, after)
    }
}

/// The place in `bytes` at which `text` begins.
fn find(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

#[test]
fn damage_anywhere_in_a_checkpoint_is_seen_and_the_one_before_serves() {
    let killed = KilledRun::new();
    let whole = std::fs::read(killed.path(LAST)).unwrap();
    let begin = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let size = (whole.len() - begin) / 4;
    type Damage = Box<dyn Fn(&mut Vec<u8>)>;
    let mut damages: Vec<(String, Damage)> = vec![
        ("torn".into(), Box::new(|bytes: &mut Vec<u8>| *bytes = b"torn".to_vec())),
        ("empty".into(), Box::new(Vec::clear)),
        ("half".into(), Box::new(|bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2))),
    ];
    // Four arrays: in each a page and a bit.
    for array in 0..4 {
        let at = begin + array * size + size / 2;
        damages.push((
            format!("a page of {array}"),
            Box::new(move |bytes: &mut Vec<u8>| bytes[at..at + 4_096].fill(0x3f)),
        ));
        damages.push((format!("a bit of {array}"), Box::new(move |bytes: &mut Vec<u8>| bytes[at] ^= 1)));
    }
    for (name, by) in [("updates", "uqdates"), ("\\\"updates\\\":8", "\\\"updates\\\":7"), ("cwm.train", "cwm.trein")] {
        let at = find(&whole, name);
        let change = move |bytes: &mut Vec<u8>| bytes[at..at + by.len()].copy_from_slice(by.as_bytes());
        damages.push((name.into(), Box::new(change)));
    }
    for (name, damage) in damages {
        let work = killed.copy();
        let mut bytes = whole.clone();
        damage(&mut bytes);
        assert!(bytes != whole, "{name}");
        std::fs::write(keep_of(work.path()).join(LAST), &bytes).unwrap();
        killed.run(work.path(), never, 1).unwrap();
        assert!(written(work.path()) == killed.outputs, "{name}");
        let aside = format!("{LAST}.damaged");
        assert_eq!(names(work.path()), ["curves.jsonl", BEFORE, LAST, &aside], "{name}");
        assert!(std::fs::read(keep_of(work.path()).join(aside)).unwrap() == bytes, "{name}: nothing is lost");
    }
}

#[test]
fn curves_that_are_not_those_of_a_checkpoint_make_the_one_before_serve() {
    let killed = KilledRun::new();
    let curves = std::fs::read_to_string(killed.path("curves.jsonl")).unwrap();
    let (last, aside) = (format!("{LAST}.damaged"), format!("{BEFORE}.damaged"));
    // Where the line of step 7 begins, which the checkpoint after step 4 does not know.
    let known = curves.find("\"step\":7").unwrap();
    let damaged = [
        (curves[..known].to_owned(), vec!["curves.jsonl", BEFORE, LAST, &last]),
        (curves.replacen("\"step\":7", "\"step\":6", 1), vec!["curves.jsonl", BEFORE, LAST, &last]),
        (
            curves.replacen("\"step\":1", "\"step\":0", 1),
            vec!["curves.jsonl", "curves.jsonl.damaged", BEFORE, &aside, LAST, &last],
        ),
    ];
    for (text, left) in damaged {
        let work = killed.copy();
        std::fs::write(keep_of(work.path()).join("curves.jsonl"), text).unwrap();
        killed.run(work.path(), never, 1).unwrap();
        assert!(written(work.path()) == killed.outputs);
        assert_eq!(names(work.path()), left);
    }
    let work = killed.copy();
    std::fs::remove_file(keep_of(work.path()).join("curves.jsonl")).unwrap();
    killed.run(work.path(), never, 1).unwrap();
    assert!(written(work.path()) == killed.outputs);
}

#[test]
fn after_damage_what_is_kept_anew_stays() {
    let killed = KilledRun::new();
    let (last, aside) = (format!("{LAST}.damaged"), format!("{BEFORE}.damaged"));
    // Stopped at the second validation: after step 6 where the checkpoint after step 4 serves, else after step 3.
    for (damaged, step, left) in [
        (&[LAST][..], 6, vec!["curves.jsonl", BEFORE, "step-000000000006.safetensors", &last]),
        (
            &[BEFORE, LAST][..],
            3,
            vec!["curves.jsonl", "curves.jsonl.damaged", "step-000000000003.safetensors", &aside, &last],
        ),
    ] {
        let work = killed.copy();
        for name in damaged {
            std::fs::write(keep_of(work.path()).join(name), b"torn").unwrap();
        }
        let failure = killed.run(work.path(), is_validated, 2).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cancelled);
        assert_eq!(names(work.path()), left, "stopped after step {step}");
        killed.run(work.path(), never, 1).unwrap();
        assert!(written(work.path()) == killed.outputs, "stopped after step {step}");
    }
}

#[test]
fn what_cannot_be_read_is_a_failure_and_nothing_is_lost() {
    let killed = KilledRun::new();
    let curves = || std::fs::read(killed.path("curves.jsonl")).unwrap();
    let (before, lines) = (names(killed.work.path()), curves());
    // Whoever may read anything cannot read a folder as a file either.
    std::fs::create_dir(killed.path("step-000000000009.safetensors")).unwrap();
    let failure = killed.run(killed.work.path(), never, 1).unwrap_err();
    assert_eq!(failure.kind, FailureKind::System);
    assert!(failure.message.contains("step-000000000009.safetensors"), "{failure}");
    assert!(failure.hint.unwrap().contains(&keep_of(killed.work.path()).display().to_string()));
    std::fs::remove_dir(killed.path("step-000000000009.safetensors")).unwrap();
    assert_eq!((names(killed.work.path()), curves()), (before, lines));
    killed.run(killed.work.path(), never, 1).unwrap();
    assert!(written(killed.work.path()) == killed.outputs);
}
