//! Azure's storage, as Azurite imitates it, whose program `azurite-blob` is looked for in `CWM_AZURITE` and PATH
//! (`npm install azurite`). Python makes its container.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{CELLS, PIPELINE, Program, sound, well};
use crate::context::{Context, Ran, Run, finish};

/// A server with one container.
struct Azurite {
    program: Program,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Azurite {
    /// Starts one; else says, in words, that the test is skipped.
    fn start() -> Option<Azurite> {
        let Some(program) = program() else {
            println!("skipped: no Azurite (npm install azurite; CWM_AZURITE=FILE)");
            return None;
        };
        let port = TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("it").port();
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(program);
        command.args(["--silent", "--disableTelemetry", "--skipApiVersionCheck", "--blobPort", &port.to_string()]);
        command.arg("--location").arg(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Azurite { program: Program(command.spawn().expect("it starts")), port, _folder: folder };
        let listens = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        assert!(listens, "Azurite did not listen within a minute");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/azure_container.py");
        let made = Command::new("python3").args([script, &port.to_string()]).output().expect("python3 starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Some(server)
    }

    /// Somebody who shares by it, with an input that goes in parts.
    fn person(&self) -> Context {
        let context = Context::with(PIPELINE);
        context.write_old("games.pgn", &"e4 e5 ".repeat(4 << 20));
        context.write("cwm.toml", "[remotes.lab]\nurl = 'az://models/cwm'\ntimeout = '5s'\n");
        context
    }

    fn command(&self, context: &Context, arguments: &[&str]) -> Command {
        let mut command = context.command(arguments);
        command.env("AZURE_STORAGE_USE_EMULATOR", "true");
        command.env("AZURITE_BLOB_STORAGE_URL", format!("http://127.0.0.1:{}", self.port));
        command
    }

    fn cwm(&self, context: &Context, arguments: &[&str]) -> Ran {
        finish(self.command(context, arguments).output().expect("cwm starts"))
    }
}

fn program() -> Option<PathBuf> {
    let named = std::env::var_os("CWM_AZURITE").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = named.into_iter().chain(std::env::split_paths(&path).map(|folder| folder.join("azurite-blob")));
    found.find(|file| file.is_file())
}

#[test]
fn push_and_pull_over_azure() {
    let Some(mut server) = Azurite::start() else { return };
    let (ada, ben, eve) = (server.person(), server.person(), server.person());
    for author in [&ada, &eve] {
        author.run(&[]).ran_just(&CELLS);
    }
    let before = well(server.cwm(&ada, &["status", "--remote", "games"])).stdout;
    assert!(before.contains("lab: missing"), "{before}");
    // Of two who send the same content in parts at once, the first to end makes what the other sent void.
    let pushes = [&ada, &eve].map(|author| {
        let mut command = server.command(author, &["push"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts")
    });
    for push in pushes {
        well(finish(push.wait_with_output().expect("an end")));
    }
    let again = well(server.cwm(&ada, &["push"])).stderr;
    assert!(again.contains(" 0 files, 0 B"), "{again}");
    Run::read(server.cwm(&ben, &["run", "--json", "--pull"])).ran_just(&[]);
    assert!(ben.read("exported/out") == ada.read("exported/out"));
    well(server.cwm(&ben, &["pull"]));
    sound(&ben);
    server.program.0.kill().expect("it ends");
    let after = server.cwm(&ben, &["status", "--remote", "games"]).stdout;
    assert!(after.contains("lab: not reached"), "{after}");
}
