//! Rows of what ours takes, beside a peer in Python and a goal.

use std::hint::black_box;
use std::process::Command;

use crate::clock::cpu;

/// Inputs that the peer sees.
const FEW: usize = 400;

/// What the specification of a system asks for.
pub enum Goal {
    /// As many times the peer's rate.
    Times(f64),
    /// This rate.
    AtLeast(f64),
    /// So many CPU seconds at most.
    Seconds(f64),
}

pub fn head() {
    println!(
        "{:<62} {:>10} {:>9} {:>8} {:>10}",
        "what (a CPU second, unless it is in seconds)", "cwm", "peer", "ratio", "goal"
    );
}

/// A row of rates a CPU second, or of CPU seconds.
pub fn row(what: &str, ours: f64, peer: Option<f64>, goal: Goal) {
    let number = |number: f64| if number < 100.0 { format!("{number:.2}") } else { format!("{number:.0}") };
    let ratio = peer.map(|peer| ours / peer);
    let (wanted, is_met) = match goal {
        Goal::Times(times) => (format!("{times} times"), ratio.is_none_or(|ratio| ratio >= times)),
        Goal::AtLeast(rate) => (format!("{rate}"), ours >= rate),
        Goal::Seconds(seconds) => (format!("{seconds} s"), ours <= seconds),
    };
    let [peer, ratio] = [peer, ratio].map(|value| value.map_or("-".into(), number));
    let missed = if is_met { "" } else { "  missed" };
    println!("{what:<62} {:>10} {peer:>9} {ratio:>8} {wanted:>10}{missed}", number(ours));
}

/// CPU seconds of `work`: the least of three times, each as many rounds as take long enough.
pub fn seconds(mut work: impl FnMut()) -> f64 {
    let mut rounds = 1;
    while cpu(|| (0..rounds).for_each(|_| work())) < 0.2 {
        rounds *= 4;
    }
    let once = |_| cpu(|| (0..rounds).for_each(|_| work())) / f64::from(rounds);
    (0..3).map(once).fold(f64::INFINITY, f64::min)
}

/// A row of what `ours` makes of inputs, each with its line for a program in Python, which in a `mode` makes the same
/// of some of them, and prints that and its CPU seconds.
pub fn beside<T>(
    what: &str,
    (script, mode): (&str, &str),
    inputs: &[(String, T)],
    ours: impl Fn(&T) -> String,
    goal: Goal,
) {
    let needed = seconds(|| inputs.iter().for_each(|(_, input)| _ = black_box(ours(input))));
    let few: Vec<&(String, T)> = inputs.iter().step_by(inputs.len().div_ceil(FEW)).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    let lines: Vec<&str> = few.iter().map(|(line, _)| line.as_str()).collect();
    std::fs::write(file.path(), lines.join("\n")).expect("room");
    let python = std::env::var_os("CWM_PYTHON").unwrap_or_else(|| "python3".into());
    let mut python = Command::new(python);
    python.args(["-c", script, mode]).arg(file.path()).env("PYTHONPATH", "../tests/python");
    let output = python.output().ok().filter(|output| output.status.success());
    if output.is_none() {
        println!("{mode}: its peer is skipped, CWM_PYTHON names no Python that can import chess");
    }
    let peer = output.map(|output| {
        let text = String::from_utf8(output.stdout).expect("text");
        let (results, needed) = text.trim_end().rsplit_once('\n').expect("results, and seconds");
        let expected: Vec<String> = few.iter().map(|(_, input)| ours(input)).collect();
        assert!(results.split('\n').eq(&expected), "{mode}: another result than ours");
        few.len() as f64 / needed.parse::<f64>().expect("seconds")
    });
    row(what, inputs.len() as f64 / needed, peer, goal);
}
