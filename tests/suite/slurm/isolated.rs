//! `store = "remote"`: jobs that do not read the run's store, on a real Slurm. Each has a store of its own, and what they share
//! goes through a remote, here a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::cluster::{Cluster, QUICK, ended, events, signal, warned};
use crate::context::{Context, Run};

/// A stage that reads external files, a folder, a matrix, a stage that runs with the run, and its dependent.
const CHAIN: &str = r#"
cwm: 1
stages:
  given:
    stage: command
    from: { text: { file: notes.txt } }
    deps: [tools/shout.sh]
    with: { run: 'echo given >> "$HOME/ran"; echo of the log; ./tools/shout.sh < "$in_text" > "$out"' }
  parts:
    stage: command
    from: given
    with: { run: 'echo parts >> "$HOME/ran"; mkdir -p "$out/x"; for n in 1 2 3; do head -c "$n" "$in" > "$out/x/$n"; done; cp "$in" "$out/whole"' }
    outputs: { parts: folder }
  each: { stage: command, matrix: { n: [1, 2] }, from: parts, with: { run: 'echo "each $n" >> "$HOME/ran"; cat "$in/x/$n" > "$out"; echo " $n" >> "$out"', n: $n } }
  local: { stage: command, from: each, with: { run: 'echo local >> "$HOME/ran"; cat "$in"/* > "$out"' } }
  last: { stage: command, from: { all: local, parts: parts }, with: { run: 'echo last >> "$HOME/ran"; cat "$in_all" "$in_parts/whole" > "$out"; echo "$end" >> "$out"', end: one } }
export: { last: exported }
"#;

const CELLS: [&str; 6] = ["given", "parts", "each[n=1]", "each[n=2]", "local", "last"];

/// Both the pipeline's folder and a folder of the nodes: on one machine, and yet nothing that is in the one is read from the other.
fn settings(more: &str) -> String {
    format!("store = \"remote\"\n{more}{QUICK}\n[remotes.lab]\nurl = \"shared/remote\"\ntimeout = \"2s\"\n")
}

const SCRATCH: &str = "scratch = \"$HOME/scratch\"\n";

fn with_files(context: &Context) {
    context.write_old("notes.txt", "abc and more\n");
    context.write_old("tools/shout.sh", "#!/bin/sh\nexec tr a-z A-Z\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(context.path("tools/shout.sh"), mode).expect("a mode");
    fs::create_dir_all(context.path("shared")).expect("a folder");
}

fn start(yaml: &str, more: &str) -> Option<Cluster> {
    let cluster = Cluster::start(yaml, &settings(more), &[])?;
    with_files(&cluster.context);
    Some(cluster)
}

/// The names of all content in a store or a remote.
fn content(context: &Context, store: &str) -> BTreeSet<String> {
    let objects = context.path(store).join("objects");
    let shards = fs::read_dir(&objects).into_iter().flatten().flatten();
    let files = shards.flat_map(|shard| {
        let name = shard.file_name().into_string().expect("a name");
        let files = fs::read_dir(shard.path()).into_iter().flatten().flatten();
        files.map(move |file| name.clone() + &file.file_name().into_string().expect("a name")).collect::<Vec<_>>()
    });
    files.collect()
}

/// The content that a cell's result consists of, without what a folder holds.
fn digest(cluster: &Cluster, cell: &str) -> String {
    let shown = cluster.cwm(&["store", "ls", cell, "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    rows[0]["digest"].as_str().unwrap_or_else(|| panic!("{rows}")).to_owned()
}

#[track_caller]
fn well(run: &Run) {
    assert_eq!(run.raw.code, 0, "{}\n{}", run.raw.stdout, run.raw.stderr);
}

#[test]
fn jobs_pull_what_they_read_and_push_what_they_made() {
    for more in [SCRATCH, ""] {
        let Some(cluster) = start(CHAIN, &format!("{more}here = [\"local\"]\n")) else { return };
        let run = cluster.run(&[]);
        run.ran_just(&CELLS);
        let context = &cluster.context;
        assert_eq!(context.read("exported/out"), "A 1\nAB 2\nABC AND MORE\none\n");
        assert!(cluster.starts().values().all(|count| *count == 1), "{:?}", cluster.starts());

        // What only nodes read is not here, and what somebody here reads is.
        let (here, there) = (content(context, "artifacts"), content(context, "shared/remote"));
        for cell in ["given", "parts"] {
            let digest = digest(&cluster, cell);
            assert!(!here.contains(&digest) && there.contains(&digest), "{cell}");
        }
        for cell in ["each[n=1]", "each[n=2]", "local", "last"] {
            let digest = digest(&cluster, cell);
            assert!(here.contains(&digest), "{cell}");
            assert!(there.contains(&digest), "{cell}");
        }
        let outside = blake3::hash(b"abc and more\n").to_hex().to_string();
        assert!(there.contains(&outside) && !here.contains(&outside), "an external file goes to the remote alone");
        assert_eq!(context.path("scratch").is_dir(), !more.is_empty());

        let status = cluster.cwm(&["status"]).stdout;
        assert!(status.contains("not pulled given") && status.ends_with("4 cached, 2 not pulled\n"), "{status}");
        assert!(cluster.cwm(&["log", "given"]).stdout.contains("of the log"));
        let verified = cluster.cwm(&["store", "verify"]);
        assert_eq!(verified.code, 0, "{}", verified.stdout);
        // No secret and no path of a credential could be in what is written for jobs: there is the remote's address alone.
        let batch = fs::read_to_string(cluster.batches()[0].join("batch.json")).expect("a batch");
        assert!(batch.contains("shared/remote"), "{batch}");

        // A change runs what it must: what that reads is with the remote, and nothing else is made again.
        cluster.run(&[]).ran_just(&[]);
        let collected = cluster.cwm(&["store", "gc", "--delete", "--keep", "0d"]);
        assert_eq!(collected.code, 0, "{}", collected.stderr);
        context.edit("pipeline.yaml", "end: one", "end: two");
        let dry = cluster.cwm(&["run", "--dry-run"]);
        assert!(dry.stderr.contains("would run 1, may run 0"), "{}", dry.stderr);
        cluster.run(&[]).ran_just(&["last"]);
        assert_eq!(context.read("exported/out"), "A 1\nAB 2\nABC AND MORE\ntwo\n");
    }
}

#[test]
fn a_stage_reads_the_files_and_folders_that_its_parameters_name() {
    if !cfg!(feature = "import") {
        println!("skipped: this build has no stage `import`, which takes folders");
        return;
    }
    let yaml = "cwm: 1\nstages:\n  corpus: { stage: import, with: { source: records } }\n";
    let Some(cluster) = start(yaml, "") else { return };
    let records = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("stages/import/tests/records.jsonl");
    let records = fs::read_to_string(records).expect("the records");
    for (index, record) in records.lines().enumerate() {
        cluster.context.write_old(&format!("records/deep/chess_{index}.jsonl"), &format!("{record}\n"));
    }
    cluster.run(&[]).ran_just(&["corpus"]);
    let counts: serde_json::Value = serde_json::from_str(&cluster.context.output("corpus.counts")).expect("JSON");
    assert_eq!(counts["kept"], 2);
    // The same here: where it was done is in no key, and no path of a node is in the result.
    let same = cluster.cwm(&["run", "--check", "corpus", "--executor", "local"]);
    assert_eq!(same.code, 0, "{}", same.stderr);
    // What is wrong is reported with the path that people know.
    cluster.context.write_old("records/wrong.jsonl", "{}\n");
    let run = cluster.run(&[]);
    let reason = &run.failed["corpus"];
    assert!(reason.contains("/records/wrong.jsonl") && !reason.contains(".cwm-outside"), "{reason}");
}

#[test]
fn results_of_others_are_used_by_jobs() {
    let Some(cluster) = start(CHAIN, SCRATCH) else { return };
    well(&cluster.run(&["parts"]));
    // Another clone, with nothing in its store.
    fs::remove_dir_all(cluster.context.path("artifacts")).expect("removed");
    fs::remove_dir_all(cluster.context.path("scratch")).expect("removed");
    let run = cluster.run(&[]);
    run.ran_just(&["each[n=1]", "each[n=2]", "local", "last"]);
    assert_eq!(cluster.context.read("exported/out"), "A 1\nAB 2\nABC AND MORE\none\n");
}

/// Twelve cells of about a second, and what reads them.
const SWEEP: &str = r#"
cwm: 1
stages:
  each:
    stage: command
    matrix: { n: [0, 1, 2, 3, 4, 5] }
    with: { run: 'echo "each $n" >> "$HOME/ran"; sleep 1.5; echo $n > "$out"', n: $n }
  after: { stage: command, each: each, from: each, with: { run: 'echo "after $(cat "$in")" >> "$HOME/ran"; cp "$in" "$out"' } }
"#;

#[test]
fn a_run_that_is_killed_finds_its_jobs() {
    let Some(cluster) = start(SWEEP, "") else { return };
    for milliseconds in [60, 400, 1200, 2500, 4000] {
        let mut child = cluster.spawn(&[]);
        std::thread::sleep(Duration::from_millis(milliseconds));
        signal(&child, "-KILL");
        child.wait().expect("an end");
        // Nothing that jobs need goes.
        let collected = cluster.cwm(&["store", "gc", "--delete", "--keep", "0d"]);
        assert_eq!(collected.code, 0, "{}", collected.stderr);
    }
    let last = cluster.run(&[]);
    well(&last);
    let starts = cluster.starts();
    assert!(starts.len() == 12 && starts.values().all(|count| *count == 1), "{starts:?}");
    cluster.run(&[]).ran_just(&[]);
}

const WAITS: &str = r#"
cwm: 1
stages:
  made: { stage: command, with: { run: 'echo made >> "$HOME/ran"; touch "$HOME/begun"; while ! test -e "$HOME/go"; do sleep 0.2; done; echo x > "$out"' } }
  read: { stage: command, from: made, with: { run: 'echo read >> "$HOME/ran"; cp "$in" "$out"' } }
"#;

/// Takes the folder of remotes away, as a file system does that is not mounted any more; and brings it back.
fn away(cluster: &Cluster) -> (PathBuf, PathBuf) {
    (cluster.context.path("shared"), cluster.context.path("elsewhere"))
}

#[test]
fn a_result_is_pushed_when_a_lost_remote_is_back() {
    let Some(cluster) = start(WAITS, "") else { return };
    let child = cluster.spawn(&[]);
    cluster.context.await_file("begun");
    let (shared, elsewhere) = away(&cluster);
    fs::rename(&shared, &elsewhere).expect("a rename");
    cluster.context.write("go", "");
    std::thread::sleep(Duration::from_secs(6));
    fs::rename(&elsewhere, &shared).expect("a rename");
    ended(child).ran_just(&["made", "read"]);
    assert!(cluster.starts().values().all(|count| *count == 1), "{:?}", cluster.starts());
}

#[test]
fn a_result_that_was_not_pushed_is_found_on_the_node_and_only_pushed() {
    let Some(cluster) = start(WAITS, SCRATCH) else { return };
    let child = cluster.spawn(&[]);
    cluster.context.await_file("begun");
    let (shared, elsewhere) = away(&cluster);
    fs::rename(&shared, &elsewhere).expect("a rename");
    cluster.context.write("go", "");
    let run = ended(child);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stdout);
    let reason = &run.failed["made"];
    assert!(
        reason.starts_with("its result is computed, and could not be pushed: the remote `lab` could not be"),
        "{reason}"
    );
    let failed = &events(&run, "failed")[0];
    assert!(failed["kind"] == "system" && failed["hint"].to_string().contains("only pushes it"), "{failed}");
    assert!(run.skipped.contains("read"));

    fs::rename(&elsewhere, &shared).expect("a rename");
    let run = cluster.run(&[]);
    run.ran_just(&["made", "read"]);
    assert_eq!(cluster.starts()["made"], 1, "what the node has is pushed");
}

#[test]
fn an_input_that_cannot_be_uploaded_fails_only_its_readers() {
    let yaml = r#"
cwm: 1
stages:
  here: { stage: command, with: { run: 'echo here >> "$HOME/ran"; echo x > "$out"' } }
  reads: { stage: command, from: here, with: { run: 'echo reads >> "$HOME/ran"; cp "$in" "$out"' } }
  other: { stage: command, retry: { times: 3, wait: 1s }, with: { run: 'echo other >> "$HOME/ran"; echo y > "$out"' } }
"#;
    let Some(cluster) = start(yaml, &format!("{SCRATCH}here = [\"here\"]\n")) else { return };
    let public = "\n[remotes.public]\nurl = \"nowhere\"\nread_only = true\n";
    cluster.context.write("cwm.toml", &(cluster.context.read("cwm.toml") + public));
    let (shared, elsewhere) = away(&cluster);
    fs::rename(&shared, &elsewhere).expect("a rename");
    let child = cluster.spawn(&[]);
    cluster.await_true("the other one runs", || cluster.starts().contains_key("other"));
    std::thread::sleep(Duration::from_secs(1));
    fs::rename(&elsewhere, &shared).expect("a rename");
    let run = ended(child);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stdout);
    let reason = &run.failed["reads"];
    assert!(reason.starts_with("inputs of its job could not be uploaded: the remote `lab`: "), "{reason}");
    assert!(run.ran.contains("here") && run.ran.contains("other"), "{:?} {}", run.ran, run.raw.stdout);
    assert!(warned(&run, "the remote `public`"), "{}", run.raw.stdout);
    cluster.run(&[]).ran_just(&["reads"]);
    assert!(cluster.starts().values().all(|count| *count == 1), "{:?}", cluster.starts());
}

#[test]
fn results_lost_on_a_remote_are_rebuilt_and_damaged_ones_reported() {
    let Some(cluster) = start(CHAIN, "") else { return };
    well(&cluster.run(&["parts"]));
    // Lost: the record says what it was, and nobody has it.
    let object = |digest: &str| cluster.context.path("shared/remote/objects").join(&digest[..2]).join(&digest[2..]);
    let (given, parts) = (digest(&cluster, "given"), digest(&cluster, "parts"));
    for digest in [&given, &parts] {
        fs::remove_file(object(digest)).expect("removed");
        let _ = fs::remove_file(cluster.context.path("artifacts/objects").join(&digest[..2]).join(&digest[2..]));
    }
    let run = cluster.run(&["each"]);
    run.ran_just(&["given", "parts", "each[n=1]", "each[n=2]"]);
    assert!(run.causes["parts"].contains("missing") || run.causes["parts"].contains("files"), "{:?}", run.causes);

    // Damaged under the right name: whoever pulls it notices.
    let damaged = object(&parts);
    fs::remove_file(&damaged).expect("removed");
    fs::write(&damaged, "not what it should be").expect("written");
    let run = cluster.run(&["last"]);
    assert_eq!(run.raw.code, 1, "{}", run.raw.stdout);
    let failed = &events(&run, "failed")[0];
    assert!(failed["reason"].to_string().contains("its inputs could not be fetched: parts"), "{failed}");
    assert!(failed["hint"].to_string().contains("`cwm run --force`"), "{failed}");
    let mended = cluster.run(&["--force", "parts", "last"]);
    mended.ran_just(&["parts", "last"]);
}

#[test]
fn without_a_remote_to_write_to_nothing_is_run() {
    let context = Context::with(WAITS);
    let refused = |toml: &str, arguments: &[&str], message: &str| {
        context.write("cwm.toml", &format!("executor = \"slurm\"\n[slurm]\nstore = \"remote\"\n{toml}"));
        let ran = context.cwm(&[&["run"], arguments].concat());
        assert!(ran.code == 2 && ran.stderr.contains(message), "{message}: {}", ran.stderr);
        assert!(!context.path("artifacts").exists());
    };
    refused("", &[], "there is no remote to write to");
    refused("[remotes.a]\nurl = \"https://example.org/cwm\"\n", &[], "there is no remote to write to");
    let lab = "[remotes.lab]\nurl = \"shared\"\n";
    refused(lab, &["--remote", "lap"], "there is no remote `lap` to write to");
    refused(lab, &["--check", "made"], "`--check` compares within one store");
}
