//! Remotes that say no to everything, and credentials that nobody can send.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{CELLS, Lab, git_pull};
use crate::context::{Context, Ran, finish};

/// A server that answers 403 to whatever it is asked, with a page that repeats what was asked; its port.
fn denying() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let (mut head, mut buffer) = (Vec::new(), [0; 4096]);
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    match client.read(&mut buffer) {
                        Ok(read) if read > 0 => head.extend_from_slice(&buffer[..read]),
                        _ => return,
                    }
                }
                let asked = String::from_utf8_lossy(&head).split(' ').nth(1).unwrap_or_default().to_owned();
                let page = format!("<html>no {asked}</html>");
                let length = page.len();
                let head = format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                let _ = client.write_all((head + &page).as_bytes());
            });
        }
    });
    port
}

/// `cwm` with these variables, which ends within a minute.
fn cwm(context: &Context, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = context.command(arguments);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(&*name);
        }
    }
    command.env("HOME", context.path(".")).envs(variables.iter().copied());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts");
    let began = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if began.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            panic!("{arguments:?} waits without end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    finish(child.wait_with_output().expect("its output"))
}

const KEYS: [(&str, &str); 3] =
    [("AWS_ACCESS_KEY_ID", "AK\n"), ("AWS_SECRET_ACCESS_KEY", "SK\r\n"), ("AWS_REGION", " us-east-1\n")];

/// Names and values.
type Variables<'v> = &'v [(&'v str, &'v str)];

#[test]
fn a_remote_that_denies_everything_is_reported_once_in_its_own_words() {
    let lab = Lab::new();
    let (ada, ben) = (lab.person(), lab.person());
    ada.run(&[]).ran_just(&CELLS);
    git_pull(&ada, &ben);
    let port = denying();
    let web = format!("[remotes.web]\nurl = 'http://127.0.0.1:{port}'\n");
    let s3 = format!("[remotes.web]\nurl = 's3://bucket/x'\nendpoint = 'http://127.0.0.1:{port}'\n");
    let cases = [
        (web, "the remote `web`: access denied by the server (403 Forbidden)"),
        (s3, "the remote `web`: access denied: the credentials are not right, or do not allow it (403 Forbidden"),
    ];
    for (toml, reported) in cases {
        ben.write("cwm.toml", &toml);
        // Space around credentials is no part of them.
        let pulled = cwm(&ben, &["pull"], &KEYS);
        // Where it happens, and in the summary.
        assert!(pulled.code == 9 && pulled.stderr.matches("403").count() == 2, "{}", pulled.stderr);
        assert_eq!(pulled.stderr.matches(reported).count(), 2, "{}", pulled.stderr);
        assert!(pulled.stderr.contains("games: the remote `web` refused"), "{}", pulled.stderr);
        assert!(!pulled.stderr.contains("no remote was reached"), "{}", pulled.stderr);
        assert_eq!(toml.contains("s3:"), pulled.stderr.contains("credentials"), "{}", pulled.stderr);
        // Again at the end, since what was asked for was made.
        let run = cwm(&ben, &["run", "--pull"], &KEYS);
        assert!(run.code == 0 && run.stderr.matches(reported).count() == 2, "{}", run.stderr);
        std::fs::remove_dir_all(ben.path("artifacts")).expect("removed");
    }
}

#[test]
fn credentials_that_are_invalid_in_a_header_are_named_and_never_shown() {
    let ben = Lab::new().person();
    let (s3, gcs, azure) = ("s3://bucket/x", "gs://bucket/x", "az://container/x");
    ben.write("key.json", "hunter2");
    ben.write(
        "other.json",
        r#"{"type": "service_account", "private_key": "hunter2", "private_key_id": "a", "client_email": "x@y"}"#,
    );
    let (key, other) = (ben.path("key.json").display().to_string(), ben.path("other.json").display().to_string());
    let cases: [(&str, Variables<'_>, &str); 9] = [
        (s3, &[KEYS[0], KEYS[1], ("AWS_SESSION_TOKEN", "hun\nter2")], "AWS_SESSION_TOKEN has a space"),
        (s3, &[KEYS[0], KEYS[1], ("AWS_REGION", "hun ter2")], "AWS_REGION has a space"),
        (s3, &[("AWS_PROFILE", "nope")], "AWS_PROFILE names the profile `nope`"),
        (
            azure,
            &[("AZURE_STORAGE_ACCOUNT_NAME", "dev"), ("AZURE_STORAGE_TOKEN", "hun\u{1}ter2")],
            "AZURE_STORAGE_TOKEN",
        ),
        (
            azure,
            &[("AZURE_STORAGE_ACCOUNT_NAME", "dev"), ("AZURE_STORAGE_ACCOUNT_KEY", "hunter2!")],
            "AZURE_STORAGE_ACCOUNT_KEY",
        ),
        (gcs, &[("GOOGLE_SERVICE_ACCOUNT_KEY", "hunter2")], "GOOGLE_SERVICE_ACCOUNT_KEY"),
        (gcs, &[("GOOGLE_SERVICE_ACCOUNT", &key)], &key),
        (gcs, &[("GOOGLE_APPLICATION_CREDENTIALS", &key)], &key),
        (gcs, &[("GOOGLE_APPLICATION_CREDENTIALS", &other)], "GOOGLE_APPLICATION_CREDENTIALS"),
    ];
    for (url, variables, reported) in cases {
        ben.write("cwm.toml", &format!("[remotes.lab]\nurl = '{url}'\n"));
        let pulled = cwm(&ben, &["pull"], variables);
        assert!(pulled.code != 0 && pulled.stderr.contains(reported), "{reported}: {}", pulled.stderr);
        assert!(!pulled.stderr.contains("ter2"), "{}", pulled.stderr);
    }
}
