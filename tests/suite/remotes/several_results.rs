//! Several results of one key, as stages give that do not come out the same twice.

use std::fs;

use super::{Lab, sound, well};
use crate::context::Context;

const LUCK: &str =
    "cwm: 1\nstages:\n  luck: { stage: command, with: { run: 'head -c 8 /dev/urandom | od -An -tx1 > \"$out\"' } }\n";

/// One that rests on the other.
const LUCKS: &str = r#"
cwm: 1
stages:
  luck: { stage: command, with: { run: 'head -c 8 /dev/urandom | od -An -tx1 > "$out"' } }
  more: { stage: command, from: luck, with: { run: 'cat "$in" > "$out"; head -c 8 /dev/urandom | od -An -tx1 >> "$out"' } }
"#;

/// The digest that a lock file has for the output `out` of a stage.
fn digest_in(lock: &str, stage: &str) -> String {
    let line = lock.lines().find(|line| line.starts_with(&format!("\"{stage}\""))).expect("a line");
    let (_, digest) = line.split_once("\"out\": \"").expect("an output");
    digest[..64].to_owned()
}

#[test]
fn several_results_of_a_key_are_kept_and_the_locked_one_is_used() {
    let lab = Lab::new();
    let person = || {
        let context = lab.person();
        context.write("pipeline.yaml", LUCK);
        context
    };
    let people: Vec<Context> = (0..6).map(|_| person()).collect();
    people.iter().for_each(|person| person.run(&[]).ran_just(&["luck"]));
    // All at once: none is lost.
    std::thread::scope(|scope| {
        for person in &people {
            scope.spawn(|| well(person.cwm(&["push"])));
        }
    });
    assert_eq!(lab.files(".json").len(), 6);
    let index = fs::read_to_string(&lab.files("/index")[0]).unwrap();
    assert_eq!(index.lines().count(), 7, "{index}");

    for one in &people {
        let clone = person();
        clone.write("pipeline.lock", &one.read("pipeline.lock"));
        clone.run(&["--pull"]).ran_just(&[]);
        assert_eq!(clone.output("luck"), one.output("luck"), "the lock file's");
        let shown: serde_json::Value =
            serde_json::from_str(&well(clone.cwm(&["store", "ls", "--all", "--json"])).stdout).unwrap();
        assert_eq!(shown.as_array().unwrap().len(), 6, "{shown}");
        sound(&clone);
    }
    // Without a lock file it is the first that was recorded.
    let clone = person();
    clone.run(&["--pull"]).ran_just(&[]);
    assert_eq!(clone.output("luck"), people[0].output("luck"));
    // Somebody with another result than the lock file's takes that, and the error names where it is missing.
    let (ours, theirs) = (&people[0], &people[1]);
    ours.write("pipeline.lock", &theirs.read("pipeline.lock"));
    ours.run(&["--pull"]).ran_just(&[]);
    assert_eq!(ours.output("luck"), theirs.output("luck"));
    let rebuilt = clone.cwm(&["run", "--check", "luck"]);
    assert_eq!(rebuilt.code, 8, "{}", rebuilt.stderr);
}

#[test]
fn other_results_of_local_keys_are_imported_and_reported() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    for one in [&ada, &ben] {
        one.write("pipeline.yaml", LUCK);
        one.run(&["--push"]).ran_just(&["luck"]);
    }
    let pulled = well(ada.cwm(&["pull"])).stderr;
    assert!(
        pulled.contains("note     luck: 1 other result of it found on the remotes, beside the one in the store ("),
        "{pulled}"
    );
    let shown: serde_json::Value =
        serde_json::from_str(&well(ada.cwm(&["store", "ls", "--all", "--json"])).stdout).unwrap();
    assert_eq!(shown.as_array().unwrap().len(), 2, "{shown}");
    assert!(!well(ada.cwm(&["pull"])).stderr.contains("other result"));
    let status = || well(ada.cwm(&["status"])).stdout;
    assert!(!status().contains("another result"), "{}", status());
    let own = ada.read("pipeline.lock");
    ada.write("pipeline.lock", &ben.read("pipeline.lock"));
    assert!(status().contains("; another result than the lock file's"), "{}", status());
    ada.run(&["--pull"]).ran_just(&[]);
    assert_eq!(ada.output("luck"), ben.output("luck"));
    assert!(!status().contains("another result"), "{}", status());

    // Of a remote, too, it is the lock file's that is asked for.
    let state = |context: &Context| -> String {
        let shown = well(context.cwm(&["status", "--remote", "--json"])).stdout;
        let rows: serde_json::Value = serde_json::from_str(&shown).unwrap();
        rows[0]["remotes"][0]["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&ada), "present");
    ada.write("pipeline.lock", &own.replace(&digest_in(&own, "luck"), &"0".repeat(64)));
    assert_eq!(state(&ada), "another result");
    let pulled = ada.cwm(&["pull"]);
    let reported = "luck: the one here is another than the lock file's, and no remote that was reached has it";
    assert!(pulled.code == 9 && pulled.stderr.contains(reported), "{}", pulled.stderr);
}

/// Keys of dependents follow from a result: with the lock file's result, the other results of the lock file are found.
#[test]
fn a_pull_fetches_locked_results_although_others_are_local() {
    let lab = Lab::new();
    let person = || {
        let context = lab.person();
        context.write("pipeline.yaml", LUCKS);
        context.run(&[]).ran_just(&["luck", "more"]);
        context
    };
    let (ada, ben, cleo) = (person(), person(), person());
    well(ada.cwm(&["push"]));
    ben.write("pipeline.lock", &ada.read("pipeline.lock"));
    well(ben.cwm(&["pull", "more"]));
    assert_eq!(ben.output("luck"), ada.output("luck"));
    assert_eq!(ben.output("more"), ada.output("more"));
    ben.run(&[]).ran_just(&[]);
    assert_eq!(ben.read("pipeline.lock"), ada.read("pipeline.lock"));
    sound(&ben);

    // What cannot be had is missing, although something else is here, which is used.
    cleo.write("pipeline.lock", &ada.read("pipeline.lock"));
    let object = digest_in(&ada.read("pipeline.lock"), "luck");
    lab.files(&object[2..]).iter().for_each(|object| fs::remove_file(object).unwrap());
    let pulled = cleo.cwm(&["pull"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("luck: out ("), "{}", pulled.stderr);
    cleo.run(&[]).ran_just(&[]);
    sound(&cleo);
}

/// The lock file's results of dependents are right again once the result is made and comes out the same, also where
/// another one is here.
#[test]
fn dependents_of_an_unavailable_locked_result_are_pulled_by_their_keys() {
    let lab = Lab::new();
    let chain = LUCKS.to_owned()
        + "  last: { stage: command, from: more, with: { run: 'cat \"$in\" > \"$out\"; echo $n >> \"$out\"', n: 1 } }\n";
    let person = || {
        let context = lab.person();
        context.write("pipeline.yaml", &chain);
        context
    };
    let (ada, ben, cleo, dan) = (person(), person(), person(), person());
    for one in [&ada, &ben, &cleo, &dan] {
        one.run(&["luck"]).ran_just(&["luck"]);
    }
    ada.run(&["--push"]).ran_just(&["more", "last"]);
    ben.run(&[]);
    let lock = ada.read("pipeline.lock");
    let (luck, last) = (digest_in(&lock, "luck"), digest_in(&lock, "last"));
    let keys = well(ada.cwm(&["store", "ls", "--json"])).stdout;
    let rows: serde_json::Value = serde_json::from_str(&keys).unwrap();
    let key = rows.as_array().unwrap().iter().find(|row| row["label"] == "luck").expect("it")["key"].clone();
    // Its record is nowhere, or only its files are.
    let here = |one: &Context| one.path("artifacts/objects").join(&last[..2]).join(&last[2..]).exists();
    lab.files(&luck[2..]).iter().for_each(|object| fs::remove_file(object).unwrap());
    dan.write("pipeline.lock", &lock);
    let pulled = dan.cwm(&["pull"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("luck: out ("), "{}", pulled.stderr);
    assert!(here(&dan), "{}", pulled.stderr);
    let records = lab.files(key.as_str().expect("a key"));
    assert!(!records.is_empty(), "{rows}");
    records.iter().for_each(|record| fs::remove_file(record).unwrap());
    for (one, words) in [(&ben, &["pull"][..]), (&cleo, &["pull", "last"])] {
        one.write("pipeline.lock", &lock);
        let pulled = one.cwm(words);
        let reported = "luck: the one here is another than the lock file's, and no remote that was reached has it";
        assert!(pulled.code == 9 && pulled.stderr.contains(reported), "{words:?}: {}", pulled.stderr);
        assert!(pulled.stderr.trim_end().ends_with("1 missing"), "{}", pulled.stderr);
        assert!(here(one), "{}", pulled.stderr);
        sound(one);
    }
    // What was changed since is another matter.
    let eve = person();
    eve.edit("pipeline.yaml", "n: 1", "n: 2");
    eve.run(&[]);
    eve.write("pipeline.lock", &lock);
    let pulled = eve.cwm(&["pull", "last"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("luck: the one here is another"), "{}", pulled.stderr);
    assert!(!here(&eve), "{}", pulled.stderr);
}
