//! A headless Chromium, driven through pipes by its own protocol (Chrome DevTools Protocol): a JSON object and a zero
//! byte for each message.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The time that an answer may take before the browser counts as lost.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// A running browser with one page.
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Value>,
    next: u64,
    session: Option<String>,
    /// The events that it sent, in order.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// The browser's program: `CWM_CHROMIUM`, or one on the path that runs (Ubuntu's is only a stub).
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CWM_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let runs = |file: &PathBuf| {
        let told = Command::new(file).arg("--version").stderr(Stdio::null()).output();
        told.is_ok_and(|told| told.status.success())
    };
    let files = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    files.filter(|file| file.is_file()).find(runs)
}

impl Browser {
    /// Starts a browser; without one prints that the test is skipped, and panics if `CWM_REQUIRE` names `browser`.
    pub fn start() -> Option<Self> {
        let Some(program) = program() else {
            let required = std::env::var("CWM_REQUIRE").unwrap_or_default();
            let is_required = required.split(',').any(|name| name == "browser");
            assert!(
                !is_required,
                "browser is required (CWM_REQUIRE), but there is no Chromium: run tests/programs/setup"
            );
            println!("skipped: no Chromium (tests/programs/setup installs it; Debian: apt-get install chromium)");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // Its pipes are the descriptors 3 and 4. The pages are our own, and a sandbox needs more than containers allow.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1", "--lang=en"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (requests, mut reader) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            loop {
                let mut message = Vec::new();
                match reader.read_until(0, &mut message) {
                    Ok(read) if read > 1 => {
                        message.pop();
                        let Ok(message) = serde_json::from_slice(&message) else { return };
                        if sender.send(message).is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        });
        let mut browser =
            Browser { child, requests, answers, next: 0, session: None, events: Vec::new(), _profile: profile };
        let page = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": page, "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.window(1200, 900);
        Some(browser)
    }

    /// Sends a command and waits for its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let mut request = json!({"id": self.next, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        self.requests.write_all(&bytes).expect("the browser listens");
        loop {
            let mut message = self.wait();
            if message["id"] == self.next {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    fn wait(&mut self) -> Value {
        self.answers.recv_timeout(ANSWER_TIMEOUT).unwrap_or_else(|error| panic!("the browser does not answer: {error}"))
    }

    /// Opens a file and waits until it is loaded.
    #[track_caller]
    pub fn open(&mut self, page: &Path) {
        self.events.clear();
        let page = page.canonicalize().unwrap();
        let opened = self.call("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        assert!(opened["errorText"].is_null(), "{opened}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let message = self.wait();
            self.events.push(message);
        }
    }

    /// Evaluates an expression in the page; of a promise, the value that it resolves to.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let mut answer = self
            .call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true, "awaitPromise": true}));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// Evaluates an expression that is a text.
    #[track_caller]
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// Presses a key by its name in the standard (`ArrowLeft`, `Enter`, `f`) wherever the focus is.
    pub fn press(&mut self, key: &str) {
        let (text, number) = match key {
            "Enter" => ("\r", 13),
            "Tab" => ("\t", 9),
            "End" => ("", 35),
            "Home" => ("", 36),
            "ArrowLeft" => ("", 37),
            "ArrowRight" => ("", 39),
            "Escape" => ("", 27),
            letter => (letter, u32::from(letter.to_ascii_uppercase().as_bytes()[0])),
        };
        let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let event = |kind: &str, text: &str| {
            let mut event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number});
            if !text.is_empty() {
                event["text"] = json!(text);
            }
            event
        };
        self.call("Input.dispatchKeyEvent", event(kind, text));
        self.call("Input.dispatchKeyEvent", event("keyUp", ""));
    }

    /// Sets the size of the window.
    pub fn window(&mut self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Sets the colour scheme that the reader prefers: `light` or `dark`.
    pub fn colours(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": "", "features": features}));
    }

    /// Writes the content of the window as a PNG file.
    pub fn screenshot(&mut self, file: &Path) {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let bytes = STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    /// Checks that the console is empty, no policy was violated, and nothing but the page was requested.
    #[track_caller]
    pub fn check_quiet(&mut self) {
        // All events under way arrive before this result.
        self.eval("0");
        let methods = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"];
        let said: Vec<_> =
            self.events.iter().filter(|event| methods.iter().any(|method| event["method"] == *method)).collect();
        assert!(said.is_empty(), "{said:#?}");
        let asked = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let asked: Vec<_> = asked.map(|event| event["params"]["request"]["url"].as_str().unwrap_or_default()).collect();
        let others = asked.iter().filter(|url| !url.starts_with("file:///") && !url.starts_with("data:")).count();
        assert!(others == 0 && asked.iter().filter(|url| url.starts_with("file:")).count() == 1, "{asked:?}");
        assert!(!self.events.iter().any(|event| event["method"] == "Page.javascriptDialogOpening"));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The shell became the browser; its own children go with it.
        let _ = self.requests.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        for _ in 0..100 {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
