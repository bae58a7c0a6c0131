//! PyTorch, in a process of its own that waits while it is not asked.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Bytes below which memory is kept: all of it.
const KEPT: &str = "4294967296";

/// A PyTorch with one model and one batch.
pub struct Peer {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Its version.
    pub version: String,
}

/// The Python that has torch: `CWM_PYTHON`, else `python3`; says in words why there is none.
pub fn python() -> Option<OsString> {
    let python = std::env::var_os("CWM_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", "import torch, numpy"]).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    println!(
        "PyTorch: skipped, {} cannot import torch (tests/python/setup torch makes one that can)",
        python.display()
    );
    None
}

impl Peer {
    /// Starts a script of this folder on what is in `folder`.
    pub fn start(python: &OsString, script: &str, folder: &Path, arguments: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
        let mut child = Command::new(python)
            .arg("-B")
            .args([script.as_path(), folder])
            .args(arguments)
            // The C library's allocator gives memory back to the system and fetches it anew, step after step, unless
            // told not to; ours does not.
            .env("MALLOC_MMAP_THRESHOLD_", KEPT)
            .env("MALLOC_TRIM_THRESHOLD_", KEPT)
            .env("MALLOC_TOP_PAD_", "268435456")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut peer = Peer { child, commands, answers, version: String::new() };
        peer.version = peer.line();
        peer
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("text");
        assert!(!line.is_empty(), "PyTorch ended: what it said stands above");
        line.trim().to_owned()
    }

    /// Two numbers that it answers with.
    pub fn ask(&mut self, command: &str) -> [f64; 2] {
        writeln!(self.commands.as_mut().expect("it waits"), "{command}").expect("it waits");
        let line = self.line();
        let numbers: Vec<f64> = line.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        numbers.try_into().expect("two numbers")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.commands.take());
        _ = self.child.wait();
    }
}
