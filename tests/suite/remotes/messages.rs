//! Messages about results that others have, and whose files are not here.

use std::fs;

use super::{CELLS, Lab, git_pull, well};
use crate::context::Context;

/// A remote with all that Ada made, and Ben, who has her lock file by git, and nothing else.
fn pushed_by_ada() -> Option<(Lab, Context, Context)> {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]).ran_just(&CELLS);
    git_pull(&ada, &ben);
    Some((lab, ada, ben))
}

#[test]
fn a_result_that_was_not_pulled_is_reported_with_whose_it_is_where_it_is_and_how_to_get_it() {
    let Some((_lab, ada, ben)) = pushed_by_ada() else { return };
    // The lock file alone: nothing is known but that there is a result.
    let open = well(ben.cwm(&["status"]));
    assert!(open.stdout.contains("the lock file names its result, which the store does not have"), "{}", open.stdout);
    let hint = "hint: the remotes may have what the lock file names: `cwm run --pull` or `cwm pull` fetches it";
    assert!(open.stderr.contains(hint), "{}", open.stderr);
    assert!(well(ben.cwm(&["why", "games"])).stderr.contains(hint));
    // What waits has no key yet but that of the lock file.
    let asked = well(ben.cwm(&["status", "--remote", "--json"])).stdout;
    let rows: serde_json::Value = serde_json::from_str(&asked).unwrap();
    for row in rows.as_array().unwrap() {
        let how = if row["label"] == "games" { "" } else { "by the lock file's key" };
        let on_lab = &row["remotes"][0];
        assert_eq!((&on_lab["state"], &on_lab["detail"]), (&"present".into(), &how.into()), "{row}");
    }
    assert!(well(ben.cwm(&["status", "--remote"])).stdout.contains("lab: present (by the lock file's key)"));

    // Records of all, and files of one that nothing else needs.
    well(ben.cwm(&["pull", "report"]));
    let whose = ada.cwm(&["why", "games"]).stdout.lines().next().unwrap().replace("games: cached: ", "");
    assert!(whose.contains('@'), "{whose}");
    let known = format!(
        "{whose}; known from the remote `lab`, its files not pulled; `cwm pull games` fetches them, `cwm run --pull` when they are needed"
    );
    let status = well(ben.cwm(&["status", "games"])).stdout;
    assert!(status.starts_with("not pulled games") && status.contains(&known), "{status}");
    let why = well(ben.cwm(&["why", "games"])).stdout;
    assert!(why.starts_with(&format!("games: cached: {known}\n")), "{why}");
    let dry = ben.cwm(&["run", "--dry-run", "-v"]);
    assert!(dry.stderr.contains(&known), "{}", dry.stderr);
    let path = ben.cwm(&["show", "--path", "games"]);
    assert!(
        path.stderr.contains("hint: `cwm pull games` fetches them, `cwm run games` computes them again"),
        "{}",
        path.stderr
    );

    // Where a run would make it again, that is not all that can be done.
    ben.edit("pipeline.yaml", "export: { report: exported }", "export: { games: exported }");
    let cause = format!("its result is known from the remote `lab` ({whose}), and its files were not pulled");
    let advice = "`cwm pull games` fetches them, and `cwm run --pull` does not compute again what others have";
    let status = well(ben.cwm(&["status", "games"])).stdout;
    assert!(status.starts_with("would run") && status.contains(&format!("{cause}; {advice}")), "{status}");
    let why = well(ben.cwm(&["why", "games"])).stdout;
    assert_eq!(why, format!("games: would run\n  {cause}\n  {advice}\n"));
    let json: serde_json::Value = serde_json::from_str(&well(ben.cwm(&["why", "games", "--json"])).stdout).unwrap();
    assert_eq!(json[0]["causes"][0]["cause"], "not_pulled");
    assert_eq!((&json[0]["causes"][0]["from"], &json[0]["advice"]), (&"lab".into(), &advice.into()));
    assert_eq!(json[0]["sentences"][0], cause);
    let run = ben.run(&[]);
    run.ran_just(&["games"]);
    assert_eq!(run.causes["games"], cause);
    assert!(run.raw.stdout.contains("`cwm run --pull` fetches them instead"), "{}", run.raw.stdout);
}

/// The results with which a check compares need not be computed either.
#[test]
fn a_rebuild_in_a_fresh_clone_hints_at_remotes() {
    let Some((_lab, _ada, ben)) = pushed_by_ada() else { return };
    let refused = ben.cwm(&["run", "--check", "parts"]);
    let reported = "the remote lab may have them: `cwm pull` fetches what a check compares with";
    assert!(refused.code != 0 && refused.stderr.contains(reported), "{}", refused.stderr);
    well(ben.cwm(&["pull"]));
    let rebuilt = well(ben.cwm(&["run", "--check", "parts"]));
    assert!(!rebuilt.stderr.contains("may have"), "{}", rebuilt.stderr);
}

/// Otherwise the lock file would lose its result without a message.
#[test]
fn a_run_that_replaces_a_locked_result_reports_it_and_how_to_restore_it() {
    let pipeline = "cwm: 1\nstages: { s: { stage: command, with: { run: 'date +%s%N > \"$out\"' } } }\n";
    let (ada, ben) = (Context::with(pipeline), Context::with(pipeline));
    ada.run(&[]).ran_just(&["s"]);
    ben.run(&[]).ran_just(&["s"]);
    git_pull(&ada, &ben);
    let reported = "s: the store has another result than the lock file; the store's is used, and the lock file names it from now on";
    let ran = well(ben.cwm(&["run"])).stderr;
    assert!(ran.contains(reported) && !ran.contains("--pull"), "{ran}");
    git_pull(&ada, &ben);
    let lab = Lab::new();
    well(ben.cwm(&["remote", "add", "lab", &lab.remote().display().to_string()]));
    let ran = well(ben.cwm(&["run"])).stderr;
    assert!(
        ran.contains(&format!(
            "{reported}; to use the lock file's result, restore the lock file from git and run `cwm run --pull`"
        )),
        "{ran}"
    );
}

/// The inputs of a stage need not be computed to check it.
#[test]
fn a_rebuild_whose_inputs_are_on_a_remote_hints_at_a_pull() {
    let Some((_lab, _ada, ben)) = pushed_by_ada() else { return };
    ben.run(&["--pull"]).ran_just(&[]);
    let refused = ben.cwm(&["run", "--check", "bins"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: `cwm pull 'model[size=1]'` makes them available"), "{}", refused.stderr);
    well(ben.cwm(&["pull", "model"]));
    well(ben.cwm(&["run", "--check", "bins"]));
    // All that one reads is named at once, with one command that gets it.
    let refused = ben.cwm(&["run", "--check", "report"]).stderr;
    assert!(refused.contains("files of bins[size=2], which it reads, were not pulled"), "{refused}");
    assert!(refused.contains("hint: `cwm pull 'bins[size=1]' 'bins[size=2]'` makes them available"), "{refused}");
}

/// Otherwise it might compute for days results that others have.
#[test]
fn a_run_in_a_fresh_clone_hints_at_remotes() {
    let Some((lab, _ada, ben)) = pushed_by_ada() else { return };
    let said = "pipeline.lock names are not here; the remote lab may have them: `cwm run --pull`";
    let count = |words: &[&str]| -> usize {
        let reported = ben.cwm(words).stderr;
        let lines: Vec<&str> = reported.lines().filter(|line| line.contains("may have")).collect();
        assert!(lines.len() <= 1 && lines.iter().all(|line| line.ends_with(said)), "{reported}");
        lines.first().map_or(0, |line| line.split(' ').nth(1).expect("a number").parse().expect("a number"))
    };
    // Nobody is asked: it is not there.
    fs::rename(lab.remote(), lab.folder.path().join("away")).unwrap();
    assert_eq!(count(&["run", "--dry-run"]), CELLS.len());
    assert_eq!(count(&["run", "--dry-run", "--pull"]), 0);
    ben.edit("pipeline.yaml", "bin_width: 5", "bin_width: 6");
    let first = well(ben.cwm(&["run", "games"])).stderr;
    let said = "1 result that pipeline.lock names is not here; the remote lab may have it: `cwm run --pull`";
    assert!(first.contains(said), "{first}");
    assert!(first.find(said) < first.find("games"), "{first}");
    assert_eq!(count(&["run", "games"]), 0);
    assert_eq!(count(&["run", "model"]), 3);
    // What the lock file names of changed stages is not what would run now.
    assert_eq!(count(&["run", "--dry-run"]), 0);
    assert_eq!(count(&["run"]), 0);
    well(ben.cwm(&["remote", "remove", "lab"]));
    fs::remove_dir_all(ben.path("artifacts")).unwrap();
    assert_eq!(count(&["run"]), 0);
}

/// Every command that reads it reports the fault, without the secret.
#[test]
fn a_secret_in_cwm_toml_is_printed_nowhere() {
    let ada = Context::with("cwm: 1\nstages: { s: { stage: command, with: { run: 'echo > \"$out\"' } } }\n");
    let secret = "hUntEr2hUntEr2hUntEr2";
    let commands: [&[&str]; 6] = [
        &["run"],
        &["run", "--json"],
        &["status"],
        &["push"],
        &["remote", "list", "--json"],
        &["remote", "add", "b", "s3://b"],
    ];
    let urls =
        [format!("https://h/x;token={secret}"), format!("user:{secret}@host:/p"), format!("s3://b/x%3Fs={secret}")];
    let files = urls.iter().map(|url| format!("[remotes.lab]\nurl = '{url}'\n"));
    let files: Vec<String> = files.chain([format!("sas = '{secret}'\n"), format!("x = 1 # {secret}\n")]).collect();
    let none = |reported: &str| assert!(!reported.contains(&secret[..7]), "{reported}");
    for file in &files {
        ada.write("cwm.toml", file);
        for words in commands {
            let reported = ada.cwm(words);
            assert!(reported.code != 0 && reported.stderr.contains("cwm.toml:"), "{words:?}: {}", reported.stderr);
            none(&reported.stderr);
            none(&reported.stdout);
        }
    }
    fs::remove_file(ada.path("cwm.toml")).unwrap();
    for url in &urls {
        let reported = ada.cwm(&["remote", "add", "lab", url]);
        assert_ne!(reported.code, 0, "{url}");
        none(&reported.stderr);
    }
    assert!(!ada.path("cwm.toml").exists() && !ada.path("artifacts/runs").exists());
}

#[test]
fn an_option_of_one_kind_of_remote_is_in_the_help_and_written_to_cwm_toml() {
    let ada = Context::with("cwm: 1\nstages: {}\n");
    let help = well(ada.cwm(&["remote", "add", "--help"])).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["One of: a folder, s3://BUCKET/PREFIX, ", "https://HOST/PATH (read only)", "--endpoint <URL> The server"]
    {
        assert!(help.contains(words), "{help}");
    }
    well(ada.cwm(&["remote", "add", "lab", "s3://b/x", "--region", "r", "--endpoint", "https://h:1"]));
    let lab = "[remotes.lab]\nurl = \"s3://b/x\"\nendpoint = \"https://h:1\"\nregion = \"r\"\n";
    assert_eq!(ada.read("cwm.toml"), lab);
    let refused = ada.cwm(&["remote", "add", "disk", "x", "--region", "r"]);
    assert!(refused.code == 2 && refused.stderr.contains("`disk` has no key `region`"), "{}", refused.stderr);
    assert_eq!(ada.read("cwm.toml"), lab);
    // The folder of a file that is named alone.
    well(ada.cwm(&["remote", "remove", "lab", "-f", "pipeline.yaml"]));
    assert_eq!(ada.read("cwm.toml"), "");
}

#[test]
fn a_remote_that_cannot_be_added_is_named_as_it_was_typed() {
    let ada = Context::with("cwm: 1\nstages: {}\n");
    for (name, url, message) in [
        ("Lab", "x", "error: cannot add the remote `Lab`: `Lab` cannot be the name of a remote\nhint: a name is "),
        ("lab", "ftp://x", "error: cannot add the remote `lab`: unknown scheme `ftp`"),
    ] {
        let refused = ada.cwm(&["remote", "add", name, url]);
        assert!(refused.code == 2 && refused.stderr.contains(message), "{}", refused.stderr);
    }
    assert!(!ada.path("cwm.toml").exists());
    ada.write("cwm.toml", "[remotes.lab]\nurl = 3\n");
    let refused = ada.cwm(&["remote", "list"]);
    assert!(refused.code == 3 && refused.stderr.contains("`url` must be text, and not empty"), "{}", refused.stderr);
}
