//! Pulls that were interrupted, and servers that send in one way or the other.

use std::fs;

use super::web::{Manner, Web};
use super::{CELLS, Lab, damage, sound, well};
use crate::context::Context;

const PIECE: u64 = 4 << 20;

/// Nine megabytes, no two pieces of which are the same.
const LARGE: &str = "cwm: 1\nstages:\n  large: { stage: command, with: { run: 'seq 1300000 > \"$out\"' } }\n";

/// Somebody who has made it and pushed it to a folder, somebody who sees that folder by a web server, and that.
fn both(lab: &Lab) -> (Context, Context, Web) {
    let (ada, ben) = (lab.person(), lab.person());
    ada.write("pipeline.yaml", LARGE);
    ben.write("pipeline.yaml", LARGE);
    ada.run(&["--push"]).ran_just(&["large"]);
    let web = Web::before(lab.remote());
    ben.write("cwm.toml", &format!("[remotes.web]\nurl = 'http://127.0.0.1:{}'\ntimeout = '1s'\n", web.port));
    (ada, ben, web)
}

#[track_caller]
fn has_it(ben: &Context, ada: &Context) {
    ben.run(&[]).ran_just(&[]);
    assert!(ben.output("large") == ada.output("large"));
    sound(ben);
}

#[test]
fn an_interrupted_pull_resumes_also_after_gc() {
    let lab = Lab::new();
    let (ada, ben, web) = both(&lab);
    web.set(Manner::Until(PIECE));
    let cut = ben.cwm(&["pull"]);
    assert!(cut.code == 9 && cut.stderr.contains("could not be reached"), "{}", cut.stderr);
    let collected = well(ben.cwm(&["store", "gc", "--delete", "--json"])).stdout;
    let collected: serde_json::Value = serde_json::from_str(&collected).unwrap();
    assert_eq!(collected["retained_transfer_bytes"], PIECE, "{collected}");
    let reported = well(ben.cwm(&["store", "gc"])).stdout;
    assert!(reported.contains("note: 4.2 MB of interrupted pushes and pulls stay for 14 days"), "{reported}");
    web.set(Manner::Ranges);
    well(ben.cwm(&["pull"]));
    assert_eq!(web.ranges(), [PIECE], "what had come does not come again");
    has_it(&ben, &ada);
}

#[test]
fn a_server_without_ranges_sends_files_whole() {
    let lab = Lab::new();
    let (ada, ben, web) = both(&lab);
    web.set(Manner::Whole);
    well(ben.cwm(&["pull"]));
    has_it(&ben, &ada);
    // Also where a part came before, from a server that knew them.
    let carl = lab.person();
    carl.write("pipeline.yaml", LARGE);
    carl.write("cwm.toml", &ben.read("cwm.toml"));
    web.set(Manner::Until(PIECE));
    assert_eq!(carl.cwm(&["pull"]).code, 9);
    web.set(Manner::Whole);
    well(carl.cwm(&["pull"]));
    assert!(web.ranges().contains(&PIECE) && !web.ranges().contains(&0), "{:?}", web.ranges());
    has_it(&carl, &ada);
}

#[test]
fn a_file_that_is_too_short_on_a_remote_is_not_taken_for_a_bad_connection() {
    // Also at a length that ends a block of its own.
    for length in [5_000_000, PIECE as usize] {
        let lab = Lab::new();
        let (_, ben, web) = both(&lab);
        let large = lab.files("/objects/").into_iter().find(|file| fs::metadata(file).unwrap().len() == 9_288_896);
        damage(&large.unwrap(), |bytes| bytes.truncate(length));
        web.set(Manner::Ranges);
        let by_folder = format!("[remotes.lab]\nurl = '{}'\n", lab.remote().display());
        for config in [ben.read("cwm.toml"), by_folder] {
            ben.write("cwm.toml", &config);
            let pulled = ben.cwm(&["pull"]);
            assert_eq!(pulled.code, 9, "{}", pulled.stderr);
            assert!(pulled.stderr.contains(": is shorter than it should be"), "{}", pulled.stderr);
            assert!(!pulled.stderr.contains("could not be reached"), "{}", pulled.stderr);
        }
        assert!(web.ranges().len() < 6, "nothing is asked again and again: {:?}", web.ranges());
    }
}

/// A mistyped address of a server that is there would otherwise be "not there", result by result.
#[test]
fn a_web_server_without_anything_of_cwms_is_reported_once() {
    let lab = Lab::new();
    let ben = lab.person();
    let web = Web::before(lab.folder.path().to_owned());
    ben.write("cwm.toml", &format!("[remotes.web]\nurl = 'http://127.0.0.1:{}'\n", web.port));
    let reported = "the remote `web`: refused: it holds no results of cwm";
    let pulled = ben.cwm(&["pull"]);
    assert!(pulled.code == 9 && pulled.stderr.matches(reported).count() == 2, "{}", pulled.stderr);
    let run = ben.run(&["--pull"]);
    run.ran_just(&CELLS);
    assert!(run.raw.stdout.contains(reported), "{}", run.raw.stdout);
    let status = well(ben.cwm(&["status", "--remote", "games"])).stdout;
    assert!(status.contains("web: refused (it holds no results of cwm"), "{status}");
}
