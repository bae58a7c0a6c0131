//! The client of Google's storage, before a server that speaks the same XML: moto (`tests/python/gcs_server.py`), as for S3.

use std::process::{Command, Stdio};

use super::proxy::{Proxy, Trouble};
use super::s3::{free_port, python_with_moto, wait_for_bucket};
use super::{CELLS, PIPELINE, Program, sound, well};
use crate::context::{Context, Ran, Run, finish};

/// A server with one bucket, and a proxy before it.
struct Server {
    _program: Program,
    proxy: Proxy,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts one; else says, in words, that the test is skipped.
    fn start() -> Option<Server> {
        let python = python_with_moto()?;
        let port = free_port();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/gcs_server.py");
        let mut command = Command::new(python);
        let child = command.args([script, &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Server {
            _program: Program(child.expect("it starts")),
            proxy: Proxy::before(port),
            folder: tempfile::tempdir().expect("a folder"),
        };
        // A key that says itself that it is for an imitation.
        let key = r#"{"client_email": "", "private_key": "", "private_key_id": "", "disable_oauth": true}"#;
        std::fs::write(server.key(), key).expect("a key");
        wait_for_bucket(port);
        Some(server)
    }

    fn key(&self) -> std::path::PathBuf {
        self.folder.path().join("key.json")
    }

    /// Somebody who shares by it, with an input that goes in parts.
    fn person(&self) -> Context {
        let context = Context::with(PIPELINE);
        context.write_old("games.pgn", &"e4 e5 ".repeat(4 << 20));
        context.write("cwm.toml", "[remotes.lab]\nurl = 'gs://bucket/cwm'\ntimeout = '5s'\n");
        context
    }

    fn cwm(&self, context: &Context, arguments: &[&str]) -> Ran {
        let mut command = context.command(arguments);
        command.env("GOOGLE_SERVICE_ACCOUNT", self.key());
        command.env("GOOGLE_BASE_URL", format!("http://127.0.0.1:{}", self.proxy.port));
        finish(command.output().expect("cwm starts"))
    }
}

#[test]
fn push_and_pull_over_googles_storage() {
    let Some(server) = Server::start() else { return };
    let (ada, ben) = (server.person(), server.person());
    ada.run(&[]).ran_just(&CELLS);
    let before = well(server.cwm(&ada, &["status", "--remote", "games"])).stdout;
    assert!(before.contains("lab: missing"), "{before}");
    server.proxy.set(Trouble::None);
    well(server.cwm(&ada, &["push"]));
    assert!(server.proxy.parts() > 1, "what is large goes in parts");
    let again = well(server.cwm(&ada, &["push"])).stderr;
    assert!(again.contains(" 0 files, 0 B"), "{again}");
    Run::read(server.cwm(&ben, &["run", "--json", "--pull"])).ran_just(&[]);
    assert!(ben.read("exported/out") == ada.read("exported/out"));
    well(server.cwm(&ben, &["pull"]));
    sound(&ben);
}
