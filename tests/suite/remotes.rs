//! Results shared by hash: two people, two stores, one remote. What is a folder here is S3 in `s3`, behind a proxy that breaks.

mod azure;
mod deduplication;
mod denied;
mod gcs;
mod hostile;
mod interrupted;
mod killed_pushes;
mod lock_file_keys;
mod messages;
mod proxy;
mod s3;
mod several_results;
mod web;

use std::fs;
use std::path::{Path, PathBuf};

use crate::context::{Context, Ran, Run};

/// Chains, a folder, a matrix, and what reads all of it.
const PIPELINE: &str = r#"
cwm: 1
vars: { bin_width: 5 }
stages:
  games: { stage: command, from: { pgn: { file: games.pgn } }, with: { run: 'tr a-z A-Z < "$in_pgn" > "$out"' } }
  parts:
    stage: command
    from: games
    with: { run: 'mkdir -p "$out/x"; for n in 1 2 3; do head -c "$n" "$in" > "$out/x/$n"; done; cp "$in" "$out/whole"' }
    outputs: { parts: folder }
  model: { stage: command, matrix: { size: [1, 2] }, from: parts, with: { run: 'cat "$in"/x/* > "$out"; echo $size >> "$out"', size: $size } }
  bins: { stage: command, each: model, from: model, with: { run: 'echo "$width"; cat "$in" > "$out"; echo "$width" >> "$out"', width: $bin_width } }
  report: { stage: command, from: { bins: bins }, with: { run: 'cat "$in_bins"/* > "$out"' } }
export: { report: exported }
"#;

const CELLS: [&str; 7] = ["games", "parts", "model[size=1]", "model[size=2]", "bins[size=1]", "bins[size=2]", "report"];

/// A server that ends with its test.
struct Program(std::process::Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder that others see, and people who share it.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        Lab { folder: tempfile::tempdir().expect("a folder") }
    }

    fn remote(&self) -> PathBuf {
        self.folder.path().join("remote")
    }

    /// Somebody with a clone of the repository, and with nothing in the store.
    fn person(&self) -> Context {
        let context = Context::with(PIPELINE);
        context.write_old("games.pgn", "1. e4 e5 2. nf3\n");
        let ran = context.cwm(&["remote", "add", "lab", &self.remote().display().to_string()]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        context
    }

    /// The files of the remote whose names contain `part`.
    fn files(&self, part: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut front = vec![self.remote()];
        while let Some(folder) = front.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    front.push(path);
                } else if path.display().to_string().contains(part) {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

#[track_caller]
fn well(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    ran
}

/// Copies the files that git would bring from one clone to another.
fn git_pull(from: &Context, to: &Context) {
    for name in ["pipeline.yaml", "pipeline.lock"] {
        fs::copy(from.path(name), to.path(name)).expect("a copy");
    }
}

fn damage(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a file");
    change(&mut bytes);
    fs::remove_file(path).expect("removed");
    fs::write(path, bytes).expect("written");
}

fn sound(context: &Context) {
    let verified = context.cwm(&["store", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stdout);
}

#[test]
fn two_people_share_results_over_a_folder() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&[]).ran_just(&CELLS);
    well(ada.cwm(&["push"]));

    git_pull(&ada, &ben);
    let run = ben.run(&["--pull"]);
    run.ran_just(&[]);
    assert_eq!(ben.read("exported/out"), ada.read("exported/out"));
    assert_eq!(ben.read("pipeline.lock"), ada.read("pipeline.lock"));
    assert!(!ben.path("artifacts/objects").join("x").exists());
    // What nobody reads was not fetched, but is known.
    let status = well(ben.cwm(&["status"])).stdout;
    assert!(status.contains("not pulled games"), "{status}");
    sound(&ben);

    ben.edit("pipeline.yaml", "bin_width: 5", "bin_width: 10");
    ben.run(&["--pull", "--push"]).ran_just(&["bins[size=1]", "bins[size=2]", "report"]);
    git_pull(&ben, &ada);
    let why = well(ada.cwm(&["why", "report"])).stdout;
    assert!(why.contains("width") && why.contains('5') && why.contains("10"), "{why}");
    ada.run(&["--pull"]).ran_just(&[]);
    assert_eq!(ada.read("exported/out"), ben.read("exported/out"));
    sound(&ada);
    sound(&ben);
}

#[test]
fn lock_files_in_conflict_are_right_whichever_side_is_taken() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]).ran_just(&CELLS);
    ben.run(&["--pull"]).ran_just(&[]);
    ada.edit("pipeline.yaml", "bin_width: 5", "bin_width: 7");
    ben.edit("pipeline.yaml", "bin_width: 5", "bin_width: 9");
    ada.run(&["--push"]);
    ben.run(&["--push"]);
    let (ours, theirs) = (ada.read("pipeline.lock"), ben.read("pipeline.lock"));
    assert_ne!(ours, theirs);
    let conflict = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> ben\n");
    for (width, expected) in [("7", &ours), ("9", &theirs)] {
        for lock in [&ours, &theirs, &conflict] {
            let clone = lab.person();
            clone.edit("pipeline.yaml", "bin_width: 5", &format!("bin_width: {width}"));
            clone.write("pipeline.lock", lock);
            clone.run(&["--pull"]).ran_just(&[]);
            assert_eq!(clone.read("pipeline.lock"), *expected);
        }
    }
}

#[test]
fn only_what_is_needed_moves_and_nothing_twice() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&[]);
    well(ada.cwm(&["push", "report"]));
    // The report and its log; of all others the record alone.
    assert_eq!(lab.files("/objects/").len(), 2, "{:?}", lab.files("/objects/"));
    assert_eq!(lab.files(".json").len(), CELLS.len());
    well(ben.cwm(&["pull", "report"]));
    assert_eq!(ben.output("report"), ada.output("report"));
    ben.run(&[]).ran_just(&[]);

    let all = ben.cwm(&["pull"]);
    assert_eq!(all.code, 9, "{}", all.stderr);
    assert!(all.stderr.contains("games: ") && all.stderr.contains("lab: is not there"), "{}", all.stderr);
    well(ada.cwm(&["push"]));
    let before: Vec<_> = lab.files("").iter().map(|file| fs::metadata(file).unwrap().modified().unwrap()).collect();
    let again = well(ada.cwm(&["push", "--json"])).stdout;
    let after: Vec<_> = lab.files("").iter().map(|file| fs::metadata(file).unwrap().modified().unwrap()).collect();
    assert_eq!(before, after, "nothing is written twice");
    let summary: serde_json::Value = serde_json::from_str(again.lines().last().unwrap()).unwrap();
    assert_eq!((summary["objects"].as_u64(), summary["results"].as_u64()), (Some(0), Some(7)), "{summary}");
    well(ben.cwm(&["pull"]));
    for cell in CELLS {
        assert_eq!(well(ben.cwm(&["status", cell])).stdout.split(' ').next(), Some("cached"), "{cell}");
    }
    assert_eq!(fs::read(ben.path("artifacts/objects").join("..").join("format")).unwrap(), b"1\n");
    sound(&ben);
}

#[test]
fn damaged_and_missing_files_stop_nothing_and_are_listed() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]);
    let objects = lab.files("/objects/");
    damage(&objects[0], |bytes| bytes[0] ^= 1);
    fs::remove_file(&objects[1]).unwrap();
    damage(&objects[2], |bytes| bytes.push(0));
    let pulled = ben.cwm(&["pull"]);
    assert_eq!(pulled.code, 9, "{}", pulled.stderr);
    assert!(pulled.stderr.contains("missing:") && pulled.stderr.contains("lab: is not there"), "{}", pulled.stderr);
    sound(&ben);
    // Whatever did not come is made, and nothing else.
    let run = ben.run(&["--pull"]);
    assert_eq!(run.raw.code, 0, "{}", run.raw.stderr);
    assert_eq!(ben.read("exported/out"), ada.read("exported/out"));
    sound(&ben);
    // A push with --force mends the remote.
    well(ada.cwm(&["push", "--force"]));
    let carl = lab.person();
    well(carl.cwm(&["pull"]));
    carl.run(&[]).ran_just(&[]);
    sound(&carl);
}

#[test]
fn missing_content_and_unreachable_remotes_are_distinguished() {
    let lab = Lab::new();
    let ada = lab.person();
    ada.run(&[]);
    let status = || -> String {
        let ran = well(ada.cwm(&["status", "--remote", "--json"]));
        let rows: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let states = rows.as_array().unwrap().iter().map(|row| row["remotes"][0]["state"].as_str().unwrap().to_owned());
        states.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    assert_eq!(status(), "not reached", "there is no folder");
    fs::create_dir(lab.remote()).unwrap();
    assert_eq!(status(), "missing");
    well(ada.cwm(&["push", "report"]));
    assert_eq!(status(), "present, record only");
    well(ada.cwm(&["push"]));
    assert_eq!(status(), "present");

    // A remote that cannot be reached is reported, and everything is computed.
    let ben = lab.person();
    fs::rename(lab.remote(), lab.folder.path().join("elsewhere")).unwrap();
    let run = ben.run(&["--pull"]);
    run.ran_just(&CELLS);
    assert!(run.raw.stdout.contains("is it mounted?"), "{}", run.raw.stdout);
    // Once more where whoever comes back looks, above the counts.
    let last: Vec<&str> = run.raw.stdout.lines().rev().take(2).collect();
    let again = "and what was not fetched was built: the remote `lab`: could not be reached: ";
    assert!(last[0].contains("\"summary\"") && last[1].contains(again), "{last:?}");
    let pulled = lab.person().cwm(&["pull", "games"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("games: the remote `lab` was not reached"), "{}", pulled.stderr);
    assert!(pulled.stderr.contains("\nerror: the remote `lab`: could not be reached: "), "{}", pulled.stderr);
    // What is said of the remote is no result that is missing.
    assert!(pulled.stderr.trim_end().ends_with("1 missing"), "{}", pulled.stderr);
    let pushed = ben.cwm(&["push", "--remote", "nobody"]);
    assert!(pushed.code == 2 && pushed.stderr.contains("there is no remote `nobody`"), "{}", pushed.stderr);
    ben.edit("cwm.toml", "[remotes.lab]\n", "[remotes.lab]\nread_only = true\n");
    let pushed = ben.cwm(&["push"]);
    assert!(pushed.code == 2 && pushed.stderr.contains("every remote is read-only"), "{}", pushed.stderr);
}

/// A mistyped folder would otherwise be filled without a word.
#[test]
fn an_initialised_remote_is_reported_once() {
    let lab = Lab::new();
    let ada = lab.person();
    assert_eq!(well(ada.cwm(&["push"])).stderr.matches("was not there").count(), 0, "nothing is begun for nothing");
    ada.run(&[]);
    let made = format!(
        "the remote `lab` was not there: its folder {} was created",
        lab.remote().canonicalize().unwrap_or(lab.remote()).display()
    );
    assert_eq!(well(ada.cwm(&["push"])).stderr.matches(&made).count(), 1);
    let begun = |ran: Ran| ran.stderr.contains("was not there") || ran.stderr.contains("was initialized");
    assert!(!begun(well(ada.cwm(&["push"]))));
    fs::remove_dir_all(lab.remote()).unwrap();
    fs::create_dir(lab.remote()).unwrap();
    let reported = well(ada.cwm(&["push"])).stderr;
    assert_eq!(
        reported.matches("the remote `lab` held no results of cwm, and was initialized").count(),
        1,
        "{reported}"
    );
}

/// The store's `gc` deletes what nobody there names: all that others push.
#[test]
fn a_store_is_no_remote() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    let reported = |ran: Ran| {
        assert_eq!(ran.code, 2, "{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("whose `gc` would delete what is pushed there"), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("give the remote a folder of its own") && ran.stderr.contains("`store = "),
            "{}",
            ran.stderr
        );
        ran.stderr
    };
    // Her own, before it is there.
    let before = ada.read("cwm.toml");
    for place in ["artifacts", "artifacts/sub", "./artifacts"] {
        assert!(reported(ada.cwm(&["remote", "add", "own", place])).contains("the store that is used here"), "{place}");
    }
    let scratch = ada.path("scratch").display().to_string();
    reported(ada.cwm(&["--store", &scratch, "remote", "add", "own", "scratch"]));
    ada.write("cwm.toml", &format!("store = 'elsewhere'\n{before}"));
    reported(ada.cwm(&["remote", "add", "own", "elsewhere"]));
    assert_eq!(ada.read("cwm.toml"), format!("store = 'elsewhere'\n{before}"));
    ada.write("cwm.toml", "[remotes.own]\nurl = 'artifacts'\n");
    assert!(reported(ada.cwm(&["status", "--remote"])).contains("it is the store that is used here"));
    ada.run(&[]);
    for place in [ada.path("artifacts"), ada.path("artifacts/objects"), ada.path("artifacts/../artifacts/new")] {
        let place = place.display().to_string();
        let before = ben.read("cwm.toml");
        reported(ben.cwm(&["remote", "add", "hers", &place]));
        assert_eq!(ben.read("cwm.toml"), before);
        ben.write("cwm.toml", &format!("[remotes.hers]\nurl = '{place}'\n"));
        for words in [&["push"][..], &["pull"], &["status", "--remote"], &["run", "--pull"]] {
            reported(ben.cwm(words));
        }
        ben.write("cwm.toml", &before);
    }
    // A remote stays one whatever somebody put beside its folders.
    well(ada.cwm(&["remote", "remove", "own"]));
    well(ada.cwm(&["remote", "add", "lab", &lab.remote().display().to_string()]));
    well(ada.cwm(&["push"]));
    fs::create_dir(lab.remote().join("work")).unwrap();
    well(ada.cwm(&["push", "--force"]));
    well(ben.cwm(&["pull"]));
}

#[test]
fn results_are_counted_and_not_what_they_share() {
    let lab = Lab::new();
    let same = "cwm: 1\nstages:\n  same: { stage: command, matrix: { n: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }, with: { run: 'echo same > \"$out\"', n: $n } }\n";
    let (ada, ben) = (lab.person(), lab.person());
    for one in [&ada, &ben] {
        one.write("pipeline.yaml", same);
    }
    ada.run(&["--push"]);
    let pulled = well(ben.cwm(&["pull"])).stderr;
    assert!(pulled.contains("pulled 10 results: 1 file"), "{pulled}");
    let status = well(ben.cwm(&["status"])).stdout;
    assert!(status.ends_with("10 cached\n"), "{status}");
    assert!(well(ben.cwm(&["pull"])).stderr.contains("pulled 0 results"));
}

#[test]
fn a_killed_push_is_resumed() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&[]);
    for milliseconds in [1, 3, 10, 20, 30, 50, 80] {
        let mut child = ada.command(&["push"]).spawn().expect("cwm starts");
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let _ = child.kill();
        let _ = child.wait();
        // Whatever stands there is whole.
        let clone = lab.person();
        let pulled = clone.cwm(&["pull"]);
        assert!([0, 9].contains(&pulled.code), "{}", pulled.stderr);
        assert!(
            !pulled.stderr.contains("other content") && !pulled.stderr.contains("bytes in place"),
            "{}",
            pulled.stderr
        );
        sound(&clone);
    }
    well(ada.cwm(&["push"]));
    assert_eq!(lab.files("/.cwm-"), Vec::<PathBuf>::new(), "whatever was begun is used up");
    well(ben.cwm(&["pull"]));
    let run: Run = ben.run(&[]);
    run.ran_just(&[]);
}

/// Its `gc` would delete what others pushed there.
#[test]
fn a_remote_is_no_store() {
    let lab = Lab::new();
    let ada = lab.person();
    ada.run(&["--push"]);
    let remote = lab.remote().display().to_string();
    let before = lab.files("");
    for words in [&["run"][..], &["status"], &["store", "gc", "--delete"]] {
        let refused = ada.cwm(&[words, &["--store", &remote]].concat());
        assert_eq!(refused.code, 4, "{words:?}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains("is a remote, which others push to, and no store"), "{}", refused.stderr);
    }
    assert_eq!(lab.files(""), before);
}

/// `../lab`, as people write it beside a pipeline, was no name that a file on a remote could have.
#[test]
fn a_folder_may_be_written_relative_and_have_any_name() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&[]).ran_just(&CELLS);
    let name = lab.folder.path().file_name().unwrap().to_str().unwrap();
    for (number, place) in ["odd ~%20 [x] é", "./quo'te*{y}", "a/../remote"].into_iter().enumerate() {
        if place.starts_with("a/") {
            fs::create_dir(lab.folder.path().join("a")).unwrap();
        }
        for one in [&ada, &ben] {
            one.write("cwm.toml", &format!("[remotes.lab]\nurl = \"../{name}/{place}\"\n"));
        }
        well(ada.cwm(&["push"]));
        assert!(lab.folder.path().join(place).join("format").is_file());
        well(ben.cwm(&["pull"]));
        let pulled = well(ben.cwm(&["status"])).stdout;
        assert!(pulled.contains("7 cached"), "{number}: {pulled}");
        fs::remove_dir_all(ben.path("artifacts")).unwrap();
    }
    // What is not there is reported as that.
    ben.write("cwm.toml", &format!("[remotes.lab]\nurl = \"../{name}/nowhere/../lab\"\n"));
    let pulled = ben.cwm(&["pull", "games"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("is it mounted?"), "{}", pulled.stderr);
}
