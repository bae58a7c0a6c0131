//! What is said of results that others have, and whose files are not here.

use super::{CELLS, Lab, built, git_pull, well};

#[test]
fn a_result_that_was_not_pulled_is_told_with_whose_it_is_where_it_is_and_how_to_get_it() {
    if !built() {
        return;
    }
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]).ran_just(&CELLS);
    git_pull(&ada, &ben);
    // The lock file alone: nothing is known but that there is a result.
    let open = well(ben.cwm(&["status"]));
    assert!(open.stdout.contains("the lock file names its result, which the store does not have"), "{}", open.stdout);
    let hint = "hint: the remotes may have what the lock file names: `cwm run --pull` asks them";
    assert!(open.stderr.contains(hint), "{}", open.stderr);
    assert!(well(ben.cwm(&["why", "games"])).stderr.contains(hint));
    // What waits has no key yet but that of the lock file.
    let asked = well(ben.cwm(&["status", "--remote", "--json"])).stdout;
    let rows: serde_json::Value = serde_json::from_str(&asked).unwrap();
    for row in rows.as_array().unwrap() {
        let how = if row["label"] == "games" { "" } else { "by the lock file's key" };
        let on_lab = &row["remotes"][0];
        assert_eq!((&on_lab["state"], &on_lab["detail"]), (&"there".into(), &how.into()), "{row}");
    }
    assert!(well(ben.cwm(&["status", "--remote"])).stdout.contains("lab: there (by the lock file's key)"));

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
    let path = ben.cwm(&["path", "games"]);
    assert!(
        path.stderr.contains("hint: `cwm pull games` fetches them, `cwm run games` makes them again"),
        "{}",
        path.stderr
    );

    // Where a run would make it again, that is not all that can be done.
    ben.edit("pipeline.yaml", "export: { report: exported }", "export: { games: exported }");
    let cause = format!("its result is known from the remote `lab` ({whose}), and its files were not pulled");
    let advice = "`cwm pull games` fetches them, and `cwm run --pull` does not make again what others have";
    let status = well(ben.cwm(&["status", "games"])).stdout;
    assert!(status.starts_with("would run") && status.contains(&format!("{cause}; {advice}")), "{status}");
    let why = well(ben.cwm(&["why", "games"])).stdout;
    assert_eq!(why, format!("games: would run\n  {cause}\n  {advice}\n"));
    let json: serde_json::Value = serde_json::from_str(&well(ben.cwm(&["why", "games", "--json"])).stdout).unwrap();
    assert_eq!(json[0]["causes"][0]["cause"], "not_pulled");
    assert_eq!((&json[0]["causes"][0]["from"], &json[0]["advice"]), (&"lab".into(), &advice.into()));
    assert_eq!(json[0]["because"][0], cause);
    let run = ben.run(&[]);
    run.ran_just(&["games"]);
    assert_eq!(run.causes["games"], cause);
    assert!(run.raw.stdout.contains("`cwm run --pull` fetches such in place of that"), "{}", run.raw.stdout);
}

/// What a check reads need not be computed to check it.
#[test]
fn a_rebuild_whose_inputs_are_with_a_remote_says_that_they_can_be_pulled() {
    if !built() {
        return;
    }
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&["--push"]).ran_just(&CELLS);
    git_pull(&ada, &ben);
    ben.run(&["--pull"]).ran_just(&[]);
    let refused = ben.cwm(&["verify", "--rebuild", "bins"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    let models = "'model[size=1]' 'model[size=2]'";
    assert!(refused.stderr.contains("hint: `cwm pull 'model[size=1]'` fetches them"), "{}", refused.stderr);
    let again = format!("cwm pull {models} && cwm run --check bins");
    assert!(refused.stderr.contains(&again), "{}", refused.stderr);
    well(ben.cwm(&["pull", "model"]));
    well(ben.cwm(&["verify", "--rebuild", "bins"]));
}
