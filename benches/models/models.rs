//! What a training step costs, beside PyTorch in one run: `cargo bench -p cwm-benches-models --bench models`.
//!
//! One step is forward, loss, backward, clipping and AdamW on a batch of 32 games of 80 tokens, with dropout where the
//! family has it. Both begin with the same weights on the same batch; their losses there must agree, so that both compute
//! the same. They take turns; figures are the least of several turns, in tokens a CPU second of all threads and in tokens
//! a second by the clock. Machines are noisy: compare figures of one run, not runs.
//!
//! `-- slice mamba2` measures these families alone, `--size d256/l2` another size, `--threads 4` so many threads. `--boards`
//! measures the step of `learn` on 32 boards of 78 tokens, without a mask and with one target each; `--words` on 32 games of
//! 140 words, each with the next as its target.

mod clock;
mod peer;
mod step;

use cwm_models::families::FAMILIES;

use self::clock::{LONGEST, least, measured};
use self::peer::Peer;
use self::step::{Kind, Trainer};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURNS: usize = 7;
/// Steps of a turn.
const STEPS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let size = after("--size").unwrap_or_else(|| "d128/l1".into());
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = match after("--threads") {
        Some(threads) => vec![threads.parse().expect("a number of threads")],
        None if most > 1 => vec![1, most],
        None => vec![1],
    };
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let kind = match (given("--boards"), given("--words")) {
        (true, _) => Kind::Boards,
        (_, true) => Kind::Words,
        _ => Kind::Games,
    };
    // Other families have neither in PyTorch.
    let wanted = |name: &str| if kind == Kind::Games { given(name) } else { name == "gpt" };
    let some = FAMILIES.iter().any(|family| wanted(family.name));
    let tokens = kind.tokens();
    let python = peer::python();
    let mut version = None;
    for threads in threads {
        println!("\n{size}, {} x {tokens} tokens, {threads} thread(s)", step::GAMES);
        println!(
            "{:<20} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6}",
            "family", "cwm, CPU", "PyTorch", "ratio", "cwm, clock", "PyTorch", "ratio"
        );
        for family in FAMILIES.iter().filter(|family| !some || wanted(family.name)) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut ours = Trainer::new(family.name, &size, threads, kind);
            ours.write(folder.path());
            let threads = threads.to_string();
            let more = match kind {
                Kind::Games => "games",
                Kind::Boards => "boards",
                Kind::Words => "words",
            };
            let arguments = [family.name, &size, &threads, more];
            let start = |python| Peer::start(python, "pytorch.py", folder.path(), &arguments);
            let mut peer = python.as_ref().map(start);
            if let Some(peer) = &mut peer {
                agree(family.name, ours.loss_and_norm(), peer.ask("loss"));
                version = Some(peer.version.clone());
            }
            let (mut best, mut theirs) = (LONGEST, LONGEST);
            // The first turn warms up.
            for turn in 0..=TURNS {
                let seconds = measured(|| (0..STEPS).for_each(|_| ours.step()));
                let other = peer.as_mut().map_or(LONGEST, |peer| peer.ask(&format!("steps {STEPS}")));
                if turn > 0 {
                    (best, theirs) = (least(best, seconds), least(theirs, other));
                }
            }
            row(family.name, tokens, [best[1], theirs[1], best[0], theirs[0]]);
        }
    }
    println!("\ncwm {} beside PyTorch {}", env!("CARGO_PKG_VERSION"), version.as_deref().unwrap_or("(skipped)"));
}

/// Both compute the same: losses within 1e-4, gradient norms within a thousandth.
fn agree(family: &str, ours: [f64; 2], theirs: [f64; 2]) {
    let (loss, norm) = ((ours[0] - theirs[0]).abs(), (ours[1] / theirs[1] - 1.0).abs());
    assert!(loss <= 1e-4 && norm <= 1e-3, "{family}: loss and gradient norm are {ours:?}, PyTorch's {theirs:?}");
}

/// Seconds of a turn as tokens a second.
fn row(family: &str, tokens: usize, [cpu, their_cpu, clock, their_clock]: [f64; 4]) {
    let rate = |seconds: f64| (STEPS * step::GAMES * tokens) as f64 / seconds;
    let number = |seconds: f64| if seconds.is_finite() { format!("{:.0}", rate(seconds)) } else { "-".into() };
    let ratio = |ours: f64, theirs: f64| if theirs.is_finite() { format!("{:.2}", theirs / ours) } else { "-".into() };
    println!(
        "{family:<20} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6}",
        number(cpu),
        number(their_cpu),
        ratio(cpu, their_cpu),
        number(clock),
        number(their_clock),
        ratio(clock, their_clock)
    );
}
