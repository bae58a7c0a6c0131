//! Equal content of several results, logs and folders is transferred once, though one process or two need it several times.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::{Lab, sound, well};
use crate::context::{Context, finish};

/// A pipeline with equal content of every sort: empty files, a log and an output, folders, lists of folders, cells.
const EQUAL: &str = r#"
cwm: 1
stages:
  empty: { stage: command, with: { run: ': > "$out"' } }
  logged: { stage: command, with: { run: 'echo hello | tee "$out"' } }
  folders:
    stage: command
    with: { run: 'for o in "$out_a" "$out_b" "$out_c"; do mkdir "$o"; for n in 1 2 3; do echo $n > "$o/$n"; done; done; echo more > "$out_c/more"' }
    outputs: { a: folder, b: folder, c: folder }
  cells:
    stage: command
    matrix: { i: [1, 2, 3, 4, 5, 6, 7, 8] }
    with: { run: 'mkdir "$out"; for n in $(seq 100); do echo $n > "$out/$n"; done', i: $i }
    outputs: { a: folder }
  rest:
    stage: command
    matrix: { i: [1, 2, 3, 4, 5, 6, 7, 8] }
    with: { run: 'mkdir "$out"; for n in $(seq $i 60); do echo $n > "$out/$n"; done', i: $i }
    outputs: { a: folder }
"#;

/// Its end; a pull that waits for itself has none.
fn ends(context: &Context, mut child: Child, began: Instant) {
    while child.try_wait().expect("a child").is_none() {
        if began.elapsed() > Duration::from_secs(120) {
            child.kill().expect("it ends");
            panic!("it waits without end in {}", context.path("").display());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    well(finish(child.wait_with_output().expect("an end")));
}

fn begins(context: &Context, arguments: &[&str]) -> Child {
    let mut command = context.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts")
}

#[test]
fn equal_content_is_downloaded_once_and_without_deadlock() {
    let lab = Lab::new();
    let ada = lab.person();
    ada.write("pipeline.yaml", EQUAL);
    ada.run(&["--push"]);
    let commands: [&[&str]; 2] = [&["pull"], &["run", "--json", "--pull"]];
    for arguments in commands {
        let ben = lab.person();
        ben.write("pipeline.yaml", EQUAL);
        // Two of them want the same at once.
        let began = Instant::now();
        let children = [(); 2].map(|()| begins(&ben, arguments));
        for child in children {
            ends(&ben, child, began);
        }
        well(ben.cwm(&["pull"]));
        ben.run(&[]).ran_just(&[]);
        assert_eq!(ben.read("pipeline.lock"), ada.read("pipeline.lock"));
        sound(&ben);
    }
}

/// Also with `--force`, which asks for nothing before.
#[test]
fn equal_content_of_several_results_is_uploaded_once() {
    let lab = Lab::new();
    let ada = lab.person();
    ada.write("pipeline.yaml", EQUAL);
    ada.run(&[]);
    for force in [&[][..], &["--force"]] {
        let pushed = well(ada.cwm(&[&["push", "--json"], force].concat())).stdout;
        let summary: serde_json::Value = serde_json::from_str(pushed.lines().last().expect("a line")).unwrap();
        let there = lab.files("/objects/").len() as u64;
        assert_eq!(summary["objects"].as_u64(), Some(there), "{force:?}: {summary}");
    }
}

#[test]
fn a_remote_that_refuses_connections_is_waited_for_once() {
    let context = Context::with(
        "cwm: 1\nstages: { s: { stage: command, matrix: { i: [1, 2, 3, 4, 5, 6] }, with: { run: 'echo $i > \"$out\"', i: $i } } }\n",
    );
    // Nobody listens there.
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("it").port();
    context.write("cwm.toml", &format!("[remotes.dead]\nurl = 'http://127.0.0.1:{port}'\n"));
    let began = Instant::now();
    context.run(&["--pull"]).ran_just(&["s[i=1]", "s[i=2]", "s[i=3]", "s[i=4]", "s[i=5]", "s[i=6]"]);
    // Patience is twelve seconds; six times that would be over a minute.
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
}
