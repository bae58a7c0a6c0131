//! The point in its work at which a kill hits an executor or a stage.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::dice::Dice;
use crate::processes::{children, is_alive, key_of};
use crate::scene::{Executor, Scene, count};

/// The work that the victim did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// Reading, planning, looking up; between two cells as well.
    Planning,
    /// A stage's process is there, and its command has not begun.
    Starting,
    /// A command runs.
    Running,
    /// A command has ended, and its process is still there: outputs are placed, the record written.
    Committing,
    /// All cells are done: lock file, exports, digests of files.
    Exporting,
    /// Another command than `run`, such as `verify` or `gc`.
    Elsewhere,
    /// It had ended by itself: no kill.
    Idle,
}

impl At {
    /// All that count as kills.
    pub const KILLS: [At; 6] = [At::Planning, At::Starting, At::Running, At::Committing, At::Exporting, At::Elsewhere];
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format!("{self:?}").to_lowercase())
    }
}

/// Kills, counted by where they hit.
pub type Counts = BTreeMap<At, u64>;

/// `planning 12, starting 3, …`.
pub fn reported(counts: &Counts) -> String {
    let kinds = At::KILLS.iter().chain([&At::Idle]);
    kinds.map(|at| format!("{at} {}", counts.get(at).unwrap_or(&0))).collect::<Vec<_>>().join(", ")
}

/// Returns the work that an executor does now.
pub fn of_executor(scene: &Scene, executor: &Executor) -> At {
    if !is_alive(executor.pid()) {
        return At::Idle;
    }
    if executor.arguments.first().is_some_and(|command| command != "run") {
        return At::Elsewhere;
    }
    let stages: Vec<At> = children(executor.pid()).into_iter().filter_map(|pid| of_stage(scene, pid)).collect();
    if let Some(furthest) = stages.into_iter().max() {
        return furthest;
    }
    if is_through(executor) { At::Exporting } else { At::Planning }
}

/// Returns the work that the process of a stage does now; `None` if it is no stage.
pub fn of_stage(scene: &Scene, pid: u32) -> Option<At> {
    let key = key_of(pid)?;
    let log = scene.read("log");
    let last = log.lines().rev().find(|line| line.ends_with(&key));
    Some(match last.and_then(|line| line.split(' ').next()) {
        Some("end") => At::Committing,
        // One that was killed in an earlier round had begun as well; its command then is not among the children.
        Some("begin") if !children(pid).is_empty() => At::Running,
        _ => At::Starting,
    })
}

/// True if every planned cell is reported.
fn is_through(executor: &Executor) -> bool {
    let text = std::fs::read_to_string(&executor.stdout).unwrap_or_default();
    let planned = text.lines().find(|line| line.contains("\"event\":\"planned\""));
    let planned = planned.and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let reported: usize = ["cached", "finished", "failed", "skipped"].iter().map(|event| count(&text, event)).sum();
    planned.is_some_and(|planned| planned["cells"].as_u64().is_some_and(|cells| reported as u64 >= cells))
}

/// The event for which a kill waits.
#[derive(Clone, Copy, Debug)]
pub enum Trigger {
    /// Nothing.
    Now,
    /// A stage's process.
    Stage,
    /// A command that begins.
    Begin,
    /// A command that ends.
    End,
    /// The end of all cells.
    Through,
}

/// A trigger, and how long after it.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    trigger: Trigger,
    after: Duration,
}

impl Moment {
    /// Some moment of a run that takes `seconds` undisturbed.
    pub fn random(dice: &mut Dice, seconds: f64) -> Self {
        let mut microseconds = |most: usize| Duration::from_micros(dice.below(most) as u64);
        let whole = microseconds((seconds * 0.8e6) as usize);
        let (start, little) = (microseconds(12_000), microseconds(6_000));
        let (trigger, after) = *dice.one_of(&[
            (Trigger::Now, whole),
            (Trigger::Now, start),
            (Trigger::Stage, little),
            (Trigger::Begin, little),
            (Trigger::End, little),
            (Trigger::End, little / 4),
            (Trigger::Through, little / 2),
        ]);
        Moment { trigger, after }
    }

    /// Waits for it, for as long as `executor` runs.
    pub fn await_it(self, scene: &Scene, executor: &mut Executor) {
        let lines = |word: &str| scene.read("log").lines().filter(|line| line.starts_with(word)).count();
        let before = (lines("begin"), lines("end"));
        while executor.runs() {
            let come = match self.trigger {
                Trigger::Now => true,
                Trigger::Stage => !children(executor.pid()).is_empty(),
                Trigger::Begin => lines("begin") > before.0,
                Trigger::End => lines("end") > before.1,
                Trigger::Through => is_through(executor),
            };
            if come {
                let end = Instant::now() + self.after;
                while Instant::now() < end && executor.runs() {
                    std::thread::sleep(Duration::from_micros(50));
                }
                return;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}
