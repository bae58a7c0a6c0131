//! Stopped in the middle, a download goes on where it was.

use std::process::Stdio;

use super::*;
use crate::context::finish;
use crate::fault_server::{Server, serve};

/// Bytes of the file: more than twice what is made safe at a time.
const LENGTH: usize = 40 << 20;

/// So many are made safe against a kill at a time.
const CHECKPOINT: usize = 16 << 20;

fn file() -> Vec<u8> {
    (0..LENGTH as u32 / 4).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// A server that gives 36 MiB and then falls silent; asked again it gives all that is asked for.
fn silent() -> Server {
    let file = file();
    Server::start(move |number, request| match number {
        0 => serve(&file, TAG, request).cut(36 << 20).stalling(),
        _ => serve(&file, TAG, request),
    })
}

/// Starts a run and waits until twice as much as is made safe at a time has been noted.
#[expect(clippy::zombie_processes, reason = "whoever asked waits for it; where it panics, the test ends")]
fn begin(context: &Context) -> std::process::Child {
    let mut command = context.command(&["run"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts");
    let safe = |stamp: String| {
        let stamp: serde_json::Value = serde_json::from_str(&stamp).expect("a stamp is always whole");
        stamp["safe"].as_u64() >= Some(2 * CHECKPOINT as u64)
    };
    let noted = || {
        let work = std::fs::read_dir(context.path("artifacts/work")).into_iter().flatten().flatten();
        let stamps =
            work.filter_map(|entry| std::fs::read_to_string(entry.path().join("checkpoints/stamps/00000.json")).ok());
        stamps.into_iter().any(safe)
    };
    for _ in 0..2400 {
        if noted() {
            return child;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("nothing was made safe within a minute");
}

#[test]
fn a_killed_download_resumes() {
    let server = silent();
    let context = pipeline(&format!("source: \"{}\"", server.url));
    let mut child = begin(&context);
    child.kill().expect("killed");
    drop(child.wait());
    context.run(&[]).ran_just(&["games", "size"]);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].start >= 2 * CHECKPOINT, "{:?}", requests[1]);
    assert_eq!(requests[1].if_range.as_deref(), Some(TAG));
    // At most what was under way at the kill came twice.
    assert!(server.served() <= LENGTH + (36 << 20) - 2 * CHECKPOINT, "{} bytes", server.served());
    assert!(context.read("sources.lock").contains(&sum(&file())));
}

#[test]
fn a_download_stops_during_a_silence_and_keeps_the_received_bytes() {
    let server = silent();
    let context = pipeline(&format!("source: \"{}\"", server.url));
    let child = begin(&context);
    let asked = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(asked.expect("kill").success());
    let ran = finish(child.wait_with_output().expect("an end"));
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    assert_eq!(server.requests().len(), 1, "it did not wait for the server");
    context.run(&[]).ran_just(&["games", "size"]);
    assert!(server.requests()[1].start >= 2 * CHECKPOINT);
}
