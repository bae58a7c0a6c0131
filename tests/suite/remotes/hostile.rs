//! Content of a remote is not trusted: records, indexes and lists that are not what they should be.

use std::fs;
use std::path::Path;

use super::{Lab, damage, sound, well};
use crate::context::Context;

/// Replaces a record of `stage` on the remote by what `change` makes of its text, under the right names.
fn replace(lab: &Lab, owner: &Context, stage: &str, change: impl Fn(&str) -> String) {
    let shown: serde_json::Value = serde_json::from_str(&well(owner.cwm(&["show", "--json", stage])).stdout).unwrap();
    let key = shown[0]["key"].as_str().unwrap();
    let record = lab.files(key).into_iter().find(|path| path.extension().is_some()).expect("a record");
    let text = change(&fs::read_to_string(&record).unwrap());
    let name = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
    let (old, new) = (record.file_stem().unwrap().to_str().unwrap().to_owned(), name(text.as_bytes()));
    fs::remove_file(&record).unwrap();
    fs::write(record.with_file_name(format!("{new}.json")), text).unwrap();
    let index = record.with_file_name("index");
    let mut listed = fs::read_to_string(&index).unwrap().replace(&old, &new);
    if let Some(result) = result_of(&record.with_file_name(format!("{new}.json"))) {
        let before = listed.lines().find_map(|line| line.strip_prefix(&format!("{new} "))).expect("a line").to_owned();
        listed = listed.replace(&before, &result);
    }
    fs::remove_file(&index).unwrap();
    fs::write(&index, listed).unwrap();
}

/// Returns the digest of the result of a record as the index has it; `None` if the file is no record.
fn result_of(record: &Path) -> Option<String> {
    let record: serde_json::Value = serde_json::from_slice(&fs::read(record).unwrap()).ok()?;
    let outputs = record["outputs"].as_object()?;
    let lines: String =
        outputs.iter().filter_map(|(name, output)| Some(format!("{name} {}\n", output["digest"].as_str()?))).collect();
    Some(blake3::hash(lines.as_bytes()).to_hex().to_string())
}

#[test]
fn a_record_that_does_not_match_the_index_is_rejected() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]);
    let record =
        lab.files(".json").into_iter().find(|file| fs::read_to_string(file).unwrap().contains("\"label\":\"games\""));
    let record = record.expect("a record");
    let index = record.with_file_name("index");
    let right = fs::read_to_string(&index).unwrap();
    let wrong = right.replace(&result_of(&record).unwrap(), blake3::hash(b"x").to_hex().as_str());
    assert_ne!(right, wrong);
    fs::remove_file(&index).unwrap();
    fs::write(&index, wrong).unwrap();
    let pulled = ben.cwm(&["pull", "games"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("has another result than in the index"), "{}", pulled.stderr);
    assert!(!ben.cwm(&["show", "games"]).stdout.contains("games"), "nothing of it was taken over");
    // Another push repairs it.
    well(ada.cwm(&["push"]));
    assert_eq!(fs::read_to_string(&index).unwrap(), right);
    well(ben.cwm(&["pull"]));
}

#[test]
fn a_push_with_force_takes_a_damaged_record_out_of_the_index() {
    let lab = Lab::new();
    let (ada, ben, cyd) = (lab.person(), lab.person(), lab.person());
    ada.run(&["--push"]);
    let record =
        lab.files(".json").into_iter().find(|file| fs::read_to_string(file).unwrap().contains("\"label\":\"games\""));
    damage(&record.expect("a record"), |bytes| bytes.push(b' '));
    let pulled = ben.cwm(&["pull", "games"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("`push --force` from"), "{}", pulled.stderr);
    // The same result, in a record of its own.
    ben.run(&[]);
    well(ben.cwm(&["push", "--force"]));
    well(cyd.cwm(&["pull"]));
}

#[test]
fn false_records_are_rejected_and_their_results_are_computed() {
    let long = format!("\"user\":\"{}", "x".repeat(5000));
    let lies: [(&str, &str, &str, &str); 16] = [
        ("\"label\":\"games\"", "\"label\":\"../../x\"", "has the label \\\"../../x\\\"", "games"),
        ("\"label\":\"games\"", "\"label\":\"games[a=\\u001b[2J]\"", "which no cell can have", "games"),
        ("\"user\":\"", "\"user\":\"\\u001b]0;pwn\\u0007\\u001b[31m", "terminal control characters in `user`", "games"),
        ("\"user\":\"", "\"user\":\"\\u202eada", "terminal control characters in `user`", "games"),
        ("\"user\":\"", &long, "is too long in `user`", "games"),
        ("\"wall_seconds\":", "\"wall_seconds\":-1e300,\"was\":", "has a cost of", "games"),
        ("\"host\":\"", "\"host\":\"\\u009b2J", "terminal control characters in `host`", "games"),
        (
            "\"cause\":[",
            "\"cause\":[\"\\u001b[2J it ran\\nFAKE LINE\",",
            "terminal control characters in `cause`",
            "games",
        ),
        ("\"outputs\":", "\"outputs\":{},\"was\":", "has no outputs", "games"),
        ("\"extension\":\"\"", "\"extension\":\"../../x\"", "with the extension", "games"),
        ("\"outputs\":{\"out\"", "\"outputs\":{\"../out\"", "with the name", "games"),
        ("\"kind\":\"command\"", "\"kind\":\"comand\"", "not that of its components", "games"),
        ("\"format\":2", "\"format\":9", "cannot be read", "games"),
        ("\"format\":2", "\"format\":\"", "cannot be read", "games"),
        ("\"key\":\"", "\"key\":\"0", "cannot be read", "games"),
        (
            "\"size\":",
            "\"external\":{\"path\":\"/etc/passwd\",\"from_store\":null},\"size\":",
            "outside of any store",
            "games",
        ),
    ];
    for (old, new, reported, stage) in lies {
        let lab = Lab::new();
        let (ada, ben) = (lab.person(), lab.person());
        ada.run(&["--push"]);
        replace(&lab, &ada, stage, |text| {
            assert!(text.contains(old), "{old} in {text}");
            text.replacen(old, new, 1)
        });
        let run = ben.run(&["--pull"]);
        run.ran_just(&[stage]);
        assert!(run.raw.stdout.contains(reported), "{reported} in {}", run.raw.stdout);
        assert_eq!(ben.read("exported/out"), ada.read("exported/out"));
        sound(&ben);
    }
}

/// A record that stands in the store, by an older version or by hand, is shown and not obeyed.
#[test]
fn control_characters_of_a_record_do_not_reach_the_terminal() {
    let context = Context::with(super::PIPELINE);
    context.write_old("games.pgn", "1. e4 e5 2. nf3\n");
    let mut run = context.command(&["run", "games"]);
    let ran = run.env("USER", "\u{1b}]0;pwn\u{7}root\nfake").output().expect("cwm starts");
    assert!(ran.status.success());
    for words in [&["status"][..], &["why", "games"], &["store", "ls", "--all"], &["show", "games"]] {
        let reported = well(context.cwm(words)).stdout;
        assert!(reported.contains("\\u{1b}]0;pwn\\u{7}root\\nfake@"), "{words:?}: {reported}");
        assert!(!reported.contains(|c: char| c.is_control() && c != '\n'), "{words:?}: {reported:?}");
    }
}

#[test]
fn a_false_size_in_a_record_does_not_fill_the_disk() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]);
    replace(&lab, &ada, "report", |text| {
        let at = text.find("\"size\":").expect("a size") + 7;
        let end = at + text[at..].find(|c: char| !c.is_ascii_digit()).expect("an end");
        format!("{}9000000000000000000{}", &text[..at], &text[end..])
    });
    let pulled = ben.cwm(&["pull", "report"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("not enough disk space"), "{}", pulled.stderr);
    sound(&ben);
}

#[test]
fn a_false_index_or_manifest_is_rejected() {
    for spoil in ["", "cwm-index 9\n", "cwm-index 1\n../../etc/passwd x\n", "\u{0}\u{1}"] {
        let lab = Lab::new();
        let (ada, ben) = (lab.person(), lab.person());
        ada.run(&["--push"]);
        for index in lab.files("/index") {
            fs::remove_file(&index).unwrap();
            fs::write(&index, spoil).unwrap();
        }
        let pulled = ben.cwm(&["pull"]);
        assert!(pulled.code == 9 && pulled.stderr.contains("the index of "), "{}", pulled.stderr);
        // Another push repairs it.
        well(ada.cwm(&["push"]));
        well(lab.person().cwm(&["pull"]));
    }
    // The list of a folder that leads out of it: named by its own right hash.
    for name in ["../x", "/etc/x", "a/../../x", "x\\u0000y", "A\",\"DIGEST\",1,false]\n[\"a"] {
        let lab = Lab::new();
        let (ada, ben) = (lab.person(), lab.person());
        ada.run(&["--push"]);
        let content = blake3::hash(b"x").to_hex().to_string();
        let list = format!("cwm-folder 1\n[\"{}\",\"{content}\",1,false]\n", name.replace("DIGEST", &content));
        let digest = blake3::hash(list.as_bytes()).to_hex().to_string();
        for (hex, bytes) in [(&content, "x"), (&digest, list.as_str())] {
            let folder = lab.remote().join("objects").join(&hex[..2]);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(&hex[2..]), bytes).unwrap();
        }
        replace(&lab, &ada, "parts", |text| {
            let at = text.find("\"outputs\":").expect("outputs");
            let from = at + text[at..].find("\"digest\":\"").expect("a digest") + 10;
            format!("{}{digest}{}", &text[..from], &text[from + 64..])
        });
        let pulled = ben.cwm(&["pull", "parts"]);
        assert!(pulled.code == 9 && pulled.stderr.contains("list of its files"), "{name}: {}", pulled.stderr);
        assert!(!ben.path("x").exists() && !ben.path("artifacts/x").exists());
        sound(&ben);
    }
}

#[test]
fn pipes_in_a_shared_folder_are_not_waited_for() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]);
    for file in lab.files("/objects/") {
        fs::remove_file(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: pipes (coreutils has `mkfifo`)");
            return;
        }
    }
    let pulled = ben.cwm(&["pull"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("is no plain file"), "{}", pulled.stderr);
    sound(&ben);
}
