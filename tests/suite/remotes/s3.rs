//! A real server of S3: moto, in a Python that has it (`CWM_PYTHON`, else `python3`; `tests/python/setup s3` makes one),
//! behind a proxy of ours. Another server, such as garage: `CWM_S3_ENDPOINT`, `CWM_S3_BUCKET` and the credentials that
//! AWS's variables name.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::proxy::{Proxy, Trouble};
use super::{CELLS, PIPELINE, Program, sound, well};
use crate::context::{Context, Ran};

/// A server with one bucket, and a proxy before it.
struct Server {
    /// Nothing where somebody else runs it.
    _program: Option<Program>,
    proxy: Proxy,
    bucket: String,
}

static PREFIXES: AtomicUsize = AtomicUsize::new(0);

impl Server {
    /// Starts one; else says, in words, that the test is skipped, unless `CWM_REQUIRE` names `s3`.
    fn start() -> Option<Server> {
        if let (Ok(endpoint), Ok(bucket)) = (std::env::var("CWM_S3_ENDPOINT"), std::env::var("CWM_S3_BUCKET")) {
            let port = endpoint.rsplit(':').next().and_then(|port| port.trim_end_matches('/').parse().ok());
            return Some(Server { _program: None, proxy: Proxy::before(port.expect("a port")), bucket });
        }
        let python = python_with_moto()?;
        let port = free_port();
        let child = Command::new(&python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto starts");
        let server = Server { _program: Some(Program(child)), proxy: Proxy::before(port), bucket: "bucket".to_owned() };
        wait_for_bucket(port);
        Some(server)
    }

    /// A prefix of its own in the bucket.
    fn prefix(&self) -> String {
        format!("run{}-{}", std::process::id(), PREFIXES.fetch_add(1, Ordering::SeqCst))
    }

    /// Somebody who shares by what is below `prefix`.
    fn person(&self, prefix: &str) -> Context {
        let context = Context::with(PIPELINE);
        context.write_old("games.pgn", "1. e4 e5 2. nf3\n");
        let (bucket, port) = (&self.bucket, self.proxy.port);
        context.write(
            "cwm.toml",
            &format!(
                "[remotes.lab]\nurl = 's3://{bucket}/{prefix}'\nendpoint = 'http://127.0.0.1:{port}'\ntimeout = '2s'\n"
            ),
        );
        context
    }
}

/// A Python that has moto; without one it says, in words, that the test is skipped, unless `CWM_REQUIRE` names `s3`.
pub fn python_with_moto() -> Option<OsString> {
    let python = std::env::var_os("CWM_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", "import moto.server"]).output();
    if found.is_ok_and(|found| found.status.success()) {
        return Some(python);
    }
    let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
    let how = "CWM_PYTHON=$(tests/python/setup s3 | tail -1)";
    assert!(required.split(',').all(|name| name != "s3"), "s3 is required (CWM_REQUIRE): {how}");
    println!("skipped: no server of S3 ({how})");
    None
}

/// A port that nobody listens at.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("it").port()
}

/// Makes the bucket `bucket` as soon as the server answers.
pub fn wait_for_bucket(port: u16) {
    let made = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        put_bucket(port).is_ok()
    });
    assert!(made, "moto did not answer within a minute");
}

/// Makes the bucket, by the simplest request that does.
fn put_bucket(port: u16) -> std::io::Result<()> {
    use std::io::{Read, Write};
    let mut server = std::net::TcpStream::connect(("127.0.0.1", port))?;
    server.write_all(b"PUT /bucket HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    server.read_to_string(&mut answer)?;
    match answer.contains(" 200 ") {
        true => Ok(()),
        false => Err(std::io::Error::other(answer)),
    }
}

/// `cwm` with credentials in its environment.
fn command(context: &Context, arguments: &[&str]) -> Command {
    let mut command = context.command(arguments);
    // It would go before the proxy that cwm.toml names.
    command.env_remove("AWS_ENDPOINT").env_remove("AWS_ENDPOINT_URL").env_remove("AWS_ENDPOINT_URL_S3");
    for (name, value) in
        [("AWS_ACCESS_KEY_ID", "AK"), ("AWS_SECRET_ACCESS_KEY", "SKSKSKSK"), ("AWS_REGION", "us-east-1")]
    {
        if std::env::var_os("CWM_S3_ENDPOINT").is_none() {
            command.env(name, value);
        }
    }
    command
}

fn cwm(context: &Context, arguments: &[&str]) -> Ran {
    crate::context::finish(command(context, arguments).output().expect("cwm starts"))
}

#[track_caller]
fn computes_nothing(context: &Context, arguments: &[&str]) {
    let ran = cwm(context, &[&["run", "--json"], arguments].concat());
    crate::context::Run::read(ran).ran_just(&[]);
}

#[test]
fn push_and_pull_over_s3() {
    let Some(server) = Server::start() else { return };
    let prefix = server.prefix();
    let (ada, ben) = (server.person(&prefix), server.person(&prefix));
    ada.run(&[]).ran_just(&CELLS);
    well(cwm(&ada, &["push"]));
    let status = well(cwm(&ben, &["status", "--remote", "games"])).stdout;
    assert!(status.contains("lab: present"), "{status}");
    computes_nothing(&ben, &["--pull"]);
    assert_eq!(ben.read("exported/out"), ada.read("exported/out"));
    sound(&ben);
    server.proxy.set(Trouble::None);
    well(cwm(&ada, &["push"]));
    let requests = server.proxy.requests();
    assert!(requests < 60, "a push of what is there asks and sends nothing: {requests} requests");
}

#[test]
fn a_remote_that_dies_in_the_middle_of_every_request_of_an_upload() {
    let Some(server) = Server::start() else { return };
    let ada = server.person("nothing");
    ada.run(&[]);
    let config = ada.read("cwm.toml").replace("timeout = '2s'", "timeout = '1s'");
    let to = |prefix: &str| ada.write("cwm.toml", &config.replace("/nothing'", &format!("/{prefix}'")));
    to(&server.prefix());
    server.proxy.set(Trouble::None);
    well(cwm(&ada, &["push", "report"]));
    let requests = server.proxy.requests();
    assert!(requests > 20, "{requests}");
    // The more of them by `CWM_S3_STEP=1`.
    let step = std::env::var("CWM_S3_STEP").ok().and_then(|step| step.parse().ok()).unwrap_or(7);
    for at in (1..=requests).step_by(step) {
        let prefix = server.prefix();
        to(&prefix);
        server.proxy.set(Trouble::DiesAt(at));
        let died = cwm(&ada, &["push", "report"]);
        assert_eq!(died.code, 9, "at {at} of {requests}: {}", died.stderr);
        server.proxy.set(Trouble::None);
        let ben = server.person(&prefix);
        let between = cwm(&ben, &["pull", "report"]);
        assert!([0, 9].contains(&between.code), "{}", between.stderr);
        assert!(!between.stderr.contains("other content"), "{}", between.stderr);
        sound(&ben);
        well(cwm(&ada, &["push", "report"]));
        well(cwm(&ben, &["pull", "report"]));
        computes_nothing(&ben, &[]);
        sound(&ben);
    }
}

#[test]
fn cut_connections_busy_servers_and_changed_bytes() {
    let Some(server) = Server::start() else { return };
    let ada = server.person("nothing");
    ada.run(&[]);
    let config = ada.read("cwm.toml");
    for trouble in [Trouble::CutsRequests, Trouble::CutsAnswers, Trouble::Busy] {
        let prefix = server.prefix();
        ada.write("cwm.toml", &config.replace("/nothing'", &format!("/{prefix}'")));
        let ben = server.person(&prefix);
        server.proxy.set(trouble);
        well(cwm(&ada, &["push"]));
        well(cwm(&ben, &["pull"]));
        server.proxy.set(Trouble::None);
        computes_nothing(&ben, &[]);
        sound(&ben);
    }
    let prefix = server.prefix();
    ada.write("cwm.toml", &config.replace("/nothing'", &format!("/{prefix}'")));
    well(cwm(&ada, &["push"]));
    let ben = server.person(&prefix);
    server.proxy.set(Trouble::Flips);
    let pulled = cwm(&ben, &["pull"]);
    assert!(pulled.code == 9 && pulled.stderr.contains("content does not match its hash"), "{}", pulled.stderr);
    sound(&ben);
    server.proxy.set(Trouble::HangsAt(1));
    let hung = cwm(&ben, &["status", "--remote", "games"]);
    assert!(hung.stdout.contains("not reached (no answer within 2 s)"), "{}\n{}", hung.stdout, hung.stderr);
    server.proxy.set(Trouble::None);
    well(cwm(&ben, &["pull"]));
    sound(&ben);
}

#[test]
fn what_a_server_refuses_is_reported_without_a_secret() {
    let Some(server) = Server::start() else { return };
    let ada = server.person("x");
    ada.run(&[]);
    let config = ada.read("cwm.toml");
    ada.write("cwm.toml", &config.replace(&format!("s3://{}/", server.bucket), "s3://no-such-bucket/"));
    let pushed = cwm(&ada, &["push"]);
    assert!(pushed.code == 9 && pushed.stderr.contains("there is no such bucket"), "{}", pushed.stderr);
    assert!(!pushed.stderr.contains("SKSKSKSK"), "{}", pushed.stderr);
}

#[test]
fn an_interrupted_upload_resumes_also_after_gc() {
    let Some(server) = Server::start() else { return };
    let ada = server.person("nothing");
    // Six parts of 8 MiB, and a bit.
    ada.write(
        "pipeline.yaml",
        "cwm: 1\nstages:\n  large: { stage: command, with: { run: 'seq 6700000 > \"$out\"' } }\n",
    );
    ada.run(&[]).ran_just(&["large"]);
    let config = ada.read("cwm.toml");
    let to = |prefix: &str| ada.write("cwm.toml", &config.replace("/nothing'", &format!("/{prefix}'")));
    to(&server.prefix());
    server.proxy.set(Trouble::None);
    well(cwm(&ada, &["push"]));
    let (requests, parts) = (server.proxy.requests(), server.proxy.parts());
    assert!(parts > 6, "{parts}");

    let prefix = server.prefix();
    to(&prefix);
    // After the last part the upload is completed, and the record and its index follow.
    server.proxy.set(Trouble::DiesAt(requests / 2));
    assert_eq!(cwm(&ada, &["push"]).code, 9);
    let before = server.proxy.parts();
    assert!(before > 0 && before < parts, "{before} of {parts}, at {} of {requests}", requests / 2);
    well(ada.cwm(&["store", "gc", "--delete"]));
    server.proxy.set(Trouble::None);
    well(cwm(&ada, &["push"]));
    // A part whose answer came too late to be noted goes again.
    let after = server.proxy.parts();
    assert!((parts - before..parts).contains(&after), "{before} of {parts} had gone, and {after} went then");
    let ben = server.person(&prefix);
    ben.write("pipeline.yaml", &ada.read("pipeline.yaml"));
    well(cwm(&ben, &["pull"]));
    computes_nothing(&ben, &[]);
    sound(&ben);
}

#[test]
fn thousands_of_files_and_large_ones() {
    let Some(server) = Server::start() else { return };
    // In MB; 5000 is what S3 takes in parts alone.
    let size: u64 = std::env::var("CWM_S3_MEGABYTES").ok().and_then(|size| size.parse().ok()).unwrap_or(40);
    let prefix = server.prefix();
    let pipeline = format!(
        "cwm: 1\nstages:\n  many: {{ stage: command, with: {{ run: 'mkdir $out_many; for n in $(seq 2000); do echo $n > $out_many/$n; done' }}, outputs: {{ many: folder }} }}\n  \
         large: {{ stage: command, with: {{ run: 'head -c {size}000000 /dev/zero | tr \"\\0\" x > \"$out\"' }} }}\n"
    );
    let (ada, ben) = (server.person(&prefix), server.person(&prefix));
    for one in [&ada, &ben] {
        one.write("pipeline.yaml", &pipeline);
    }
    ada.run(&[]).ran_just(&["large", "many"]);
    // Killed in the middle, and gone on with.
    let mut child = command(&ada, &["push"]).spawn().expect("cwm starts");
    std::thread::sleep(Duration::from_millis(1500));
    let _ = child.kill();
    let _ = child.wait();
    well(cwm(&ada, &["push"]));
    well(cwm(&ben, &["pull"]));
    computes_nothing(&ben, &[]);
    sound(&ben);
}
