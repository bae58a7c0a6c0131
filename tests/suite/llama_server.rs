//! The stage `answer` and a real server: llama.cpp's, with a model of random weights (`tests/python/llama_server.py`),
//! in a Python that has it (`CWM_PYTHON`, else `python3`; `tests/python/setup llama` makes one).

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::context::Context;
use crate::python::python_with;

/// Two tasks of ten items, a model that never ends an answer by itself, and two questions open at a time.
const PIPELINE: &str = "
cwm: 1
stages:
  games: { stage: play, with: { policy: uniform, games: 60 } }
  corpus: { stage: parse, from: games, with: { ids: site } }
  items:
    stage: questions
    from: { games: corpus }
    with: { positions: games, tasks: [structural_legal_move_all, structural_check_in_1], per_task: 10 }
  asked:
    stage: answer
    from: { items: items.items }
    with: { url: SERVER/v1, model: random, max_tokens: 600, connections: 2, extra: { ignore_eos: true } }
  grades: { stage: grade, from: { items: items.items, answers: asked } }
";

const ITEMS: usize = 20;
const CONNECTIONS: usize = 2;

/// A server that ends with this value.
struct Server {
    child: Child,
    url: String,
    log: PathBuf,
}

impl Server {
    fn start(python: &OsString, folder: &Path) -> Server {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/llama_server.py");
        let log = folder.join("server.log");
        let mut command = Command::new(python);
        command.arg("-B").arg(script).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(std::fs::File::create(&log).expect("a log")).spawn().expect("Python starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let server = Server { child, url: line.trim_start_matches("ready ").trim().to_owned(), log };
        assert!(server.url.starts_with("http://127.0.0.1:"), "{line:?}: {}", server.log());
        server
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).expect("the log")).into_owned()
    }

    /// The requests that the server has counted.
    fn requests(&self) -> usize {
        self.log().matches("processing task, is_child").count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answers that are kept in the journal of the run under way.
fn kept(context: &Context) -> usize {
    let folders = std::fs::read_dir(context.path("artifacts/work")).expect("the folder of work").flatten();
    let journals = folders.filter_map(|folder| std::fs::read(folder.path().join("checkpoints/answers.jsonl")).ok());
    journals.map(|text| text.split(|byte| *byte == b'\n').count() - 1).sum()
}

#[test]
fn a_killed_run_asks_the_server_only_what_is_missing() {
    if !cfg!(all(feature = "play", feature = "parse", feature = "questions", feature = "answer", feature = "grade")) {
        println!("skipped: built without the stages of questions");
        return;
    }
    let Some(python) = python_with("gguf, xllamacpp") else { return };
    let context = Context::new();
    let server = Server::start(&python, &context.path("."));
    context.write("pipeline.yaml", &PIPELINE.replace("SERVER", &server.url));
    context.run(&["items"]).ran_just(&["games", "corpus", "items"]);
    assert_eq!(context.output("items.items").lines().count(), ITEMS);

    let mut command = context.command(&["run"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("cwm starts");
    // `kept` needs the folder of work, which exists since the items were made.
    let is_under_way = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        kept(&context) >= 3
    });
    child.kill().expect("a kill");
    child.wait().expect("an end");
    assert!(is_under_way, "{}", server.log());
    // The stage ends with the executor; what it had sent reaches the server's log.
    std::thread::sleep(Duration::from_secs(1));
    let (kept, asked) = (kept(&context), server.requests());
    assert!(kept < ITEMS && (kept..=kept + CONNECTIONS).contains(&asked), "{kept} kept, {asked} requests");

    context.run(&[]).ran_just(&["asked", "grades"]);
    assert_eq!(server.requests(), asked + ITEMS - kept, "{kept} kept, {asked} requests before the kill");
    if cfg!(feature = "sql") {
        let query = "SELECT verdict, count(*) AS items FROM grades GROUP BY verdict";
        let verdicts = context.cwm(&["sql", "grades.grades", query, "--csv"]);
        assert_eq!(verdicts.stdout, format!("verdict,items\nmax_token_reached,{ITEMS}\n"), "{}", verdicts.stderr);
    }
    context.run(&[]).ran_just(&[]);
    assert_eq!(server.requests(), asked + ITEMS - kept);
}
