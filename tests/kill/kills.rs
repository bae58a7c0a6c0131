//! Executors and stages killed at random instants, one and several executors on one store.
//!
//! An episode is a pipeline at random, a store, and rounds of disturbed runs. After each round everything that may be
//! read must be whole; in the end undisturbed runs must come to what they come to in a store that nothing disturbed.

use std::fs;
use std::time::{Duration, Instant};

use crate::dice::Dice;
use crate::expected::{INPUT, MAY_RUN_AGAIN, SEEDS, Undisturbed};
use crate::instant::{self, At, Counts, Moment};
use crate::pipelines::Pipeline;
use crate::processes::{self, children, descendants};
use crate::scene::{Ended, Executor, Scene, number};

/// Hundredths of a second that a command may sleep.
const PACE: usize = 6;

/// Rounds of an episode.
const ROUNDS: usize = 10;

/// An episode under way.
struct Episode {
    dice: Dice,
    pipeline: Pipeline,
    undisturbed: Undisturbed,
    scene: Scene,
    /// The acts so far, for the message of a failure.
    done: Vec<String>,
    counts: Counts,
    started: usize,
    /// True if `gc` deletes now and then, and stages are forced to run again.
    collects: bool,
}

#[test]
fn kills_at_random_instants_do_not_change_the_results_of_the_next_run() {
    if !crate::tools(&["flock"]) {
        return;
    }
    let (wanted, seed) = (number("CWM_KILLS", 40), number("CWM_KILL_SEED", 1));
    let (began, mut reported) = (Instant::now(), Instant::now());
    let mut all = Counts::new();
    let sum = |counts: &Counts| At::KILLS.iter().filter_map(|at| counts.get(at)).sum::<u64>();
    for episode in number("CWM_KILL_FIRST", 0).. {
        match Episode::play(seed, episode) {
            Ok(counts) => counts.into_iter().for_each(|(at, kills)| *all.entry(at).or_default() += kills),
            Err(what) => {
                panic!("CWM_KILL_SEED={seed} CWM_KILL_FIRST={episode} shows this again, as far as time allows:\n{what}")
            }
        }
        let kills = sum(&all);
        if kills >= wanted || reported.elapsed() > Duration::from_secs(20) {
            reported = Instant::now();
            let seconds = began.elapsed().as_secs();
            println!("{kills} kills in {} episodes, {seconds} s: {}", episode + 1, instant::reported(&all));
        }
        if kills >= wanted {
            break;
        }
    }
}

impl Episode {
    fn play(seed: u64, number: u64) -> Result<Counts, String> {
        let mut dice = Dice::new(seed, number);
        let pipeline = Pipeline::random(&mut dice, PACE);
        let undisturbed = Undisturbed::of(&pipeline)?;
        let (scene, done, counts) = (Scene::new(), Vec::new(), Counts::new());
        let mut episode = Episode { dice, pipeline, undisturbed, scene, done, counts, started: 0, collects: false };
        match episode.rounds() {
            Ok(()) => Ok(episode.counts),
            Err(what) => {
                let folder = episode.scene.keep();
                Err(format!("{what}\ndone before:\n  {}\nall of it: {}", episode.done.join("\n  "), folder.display()))
            }
        }
    }

    fn rounds(&mut self) -> Result<(), String> {
        self.scene.write_old("input.txt", INPUT);
        // What `gc` lets go, or is forced, is made again, so that nothing can be said of those episodes about running twice.
        self.collects = self.dice.chance(25);
        if self.collects {
            fs::write(self.scene.path(MAY_RUN_AGAIN), "").map_err(|error| error.to_string())?;
        }
        for _ in 0..ROUNDS {
            // The parameter that p.yaml stands for changes now and then.
            let now = self.dice.below(SEEDS.len() - 1);
            for expected in [now, SEEDS.len() - 1] {
                let expected = &self.undisturbed.files[expected];
                let name = self.scene.path(&format!("{}.yaml", expected.file));
                fs::write(name, &expected.text).map_err(|error| error.to_string())?;
            }
            if self.dice.chance(20) {
                self.done.push("input.txt is touched".into());
                self.scene.write_old("input.txt", INPUT);
            }
            self.done.push(format!("a round with seed {} in p.yaml", SEEDS[now].1));
            self.disturbed_runs()?;
            self.must_hold()?;
        }
        self.comes_to_the_same()
    }

    /// One to four executors side by side, some of which are killed.
    fn disturbed_runs(&mut self) -> Result<(), String> {
        let several = *self.dice.one_of(&[1, 1, 1, 1, 2, 2, 2, 3, 4]);
        let mut executors: Vec<Executor> = (0..several).map(|number| self.start(number)).collect();
        let kills = 2 + self.dice.below(3 * several);
        for _ in 0..kills {
            let victim = self.dice.below(several);
            if !executors[victim].runs() {
                // Another one comes in its place, at once.
                let next = self.start(victim);
                self.ended(std::mem::replace(&mut executors[victim], next))?;
            }
            let moment = Moment::random(&mut self.dice, self.undisturbed.seconds);
            moment.await_it(&self.scene, &mut executors[victim]);
            self.kill(&executors[victim], moment);
        }
        if self.dice.chance(40) {
            executors.iter().for_each(|executor| self.kill_executor(executor, "and the rest"));
        }
        executors.into_iter().try_for_each(|executor| self.ended(executor))?;
        self.scene.no_strays()
    }

    /// Killed, well, or with failed stages, since some were killed: all else is a fault.
    fn ended(&self, executor: Executor) -> Result<(), String> {
        let arguments = executor.arguments.join(" ");
        let ended = executor.end();
        if (matches!(ended.code, 137 | 0 | 1) || found_no_store(&ended)) && !ended.stderr.contains("panicked") {
            return Ok(());
        }
        Err(format!("`cwm {arguments}` ended with {}", ended.words()))
    }

    fn start(&mut self, number: usize) -> Executor {
        self.started += 1;
        let file = if self.dice.chance(70) { "p.yaml" } else { "q.yaml" };
        let mut arguments = vec!["run", file];
        if self.collects && self.dice.chance(15) {
            arguments = vec!["store", "gc", "--delete", "-f", file];
        } else if self.dice.chance(8) {
            arguments = (*self.dice.one_of(&[
                &["store", "verify", "-f", file][..],
                &["status", file],
                &["why", "s0", "-f", file],
            ]))
            .to_vec();
        } else {
            if self.dice.chance(85) {
                arguments.push("--json");
            }
            if self.dice.chance(25) {
                arguments.push(self.dice.one_of::<String>(&self.pipeline.names));
            }
            // What is recorded is made again, and comes to the same.
            if self.collects && self.dice.chance(40) {
                arguments.extend(["--force", self.dice.one_of::<String>(&self.pipeline.names)]);
            }
            if self.dice.chance(30) {
                arguments.extend(["--jobs", *self.dice.one_of(&["1", "2", "4"])]);
            }
        }
        self.done.push(format!("{number}: cwm {}", arguments.join(" ")));
        self.scene.start(self.started, &arguments)
    }

    /// Kills an executor, the process of a stage of its, something deeper, or all of them one after the other.
    fn kill(&mut self, executor: &Executor, moment: Moment) {
        let when = format!("{moment:?}");
        let stages = children(executor.pid());
        match self.dice.below(10) {
            0 | 1 if !stages.is_empty() => {
                let stage = *self.dice.one_of(&stages);
                if let Some(at) = instant::of_stage(&self.scene, stage) {
                    self.count(processes::kill(stage), at, &format!("the process of a stage, {when}"));
                }
            }
            2 if !stages.is_empty() => {
                let deeper: Vec<u32> = stages.iter().flat_map(|stage| descendants(*stage)).collect();
                if !deeper.is_empty() {
                    let victim = *self.dice.one_of(&deeper);
                    self.count(processes::kill(victim), At::Running, &format!("a process of a command, {when}"));
                }
            }
            3 => {
                let all = descendants(executor.pid());
                self.kill_executor(executor, &when);
                for victim in all {
                    processes::kill(victim);
                }
            }
            _ => self.kill_executor(executor, &when),
        }
    }

    fn kill_executor(&mut self, executor: &Executor, when: &str) {
        let at = instant::of_executor(&self.scene, executor);
        self.count(
            at != At::Idle && processes::kill(executor.pid()),
            at,
            &format!("`{}`, {when}", executor.arguments.join(" ")),
        );
    }

    fn count(&mut self, killed: bool, at: At, what: &str) {
        let at = if killed { at } else { At::Idle };
        *self.counts.entry(at).or_default() += 1;
        self.done.push(format!("killed while {at}: {what}"));
    }

    /// Checks the conditions that hold after every disturbance, before anything is run again.
    fn must_hold(&mut self) -> Result<(), String> {
        self.undisturbed.check(&self.scene)?;
        let log = self.scene.read("log");
        if let Some(line) = log.lines().find(|line| line.starts_with("twice") || line.starts_with("again")) {
            return Err(format!("a key ran twice at a time, or again though it was recorded: {line}"));
        }
        if self.dice.chance(50) {
            let verified = self.scene.cwm(&["store", "verify", "-f", "q.yaml"]);
            if verified.code != 0 && !found_no_store(&verified) {
                return Err(format!("`cwm store verify`: {}", verified.words()));
            }
        }
        Ok(())
    }

    /// Undisturbed, everything is done, as if nothing had happened before; and then there is nothing left to do.
    fn comes_to_the_same(&mut self) -> Result<(), String> {
        for expected in &self.undisturbed.files {
            let yaml = format!("{}.yaml", expected.file);
            fs::write(self.scene.path(&yaml), &expected.text).map_err(|error| error.to_string())?;
            let run = |what: &str| -> Result<Ended, String> {
                let ended = self.scene.cwm(&["run", "--json", &yaml]);
                match ended.code == expected.code {
                    true => Ok(ended),
                    false => Err(format!("{what} of {yaml}, where {} was expected: {}", expected.code, ended.words())),
                }
            };
            run("the last run")?;
            let lock = self.scene.read(&format!("{}.lock", expected.file));
            if lock != expected.lock {
                return Err(format!("{}.lock is\n{lock}\nand undisturbed\n{}", expected.file, expected.lock));
            }
            let again = run("another run")?;
            // Of cells with one key, one runs, and all of them fail.
            if again.keys("started") != again.keys("failed") {
                return Err(format!("another run of {yaml} runs something: {}", again.words()));
            }
        }
        self.scene.no_strays()?;
        self.must_hold()?;
        for expected in self.undisturbed.files.iter().rev().take(2) {
            let folder = self.scene.path(&format!("exported-{}", expected.file));
            let mut files = crate::store_truth::tree(&folder);
            files.retain(|name, _| !name.contains(".cwm-export"));
            if files != expected.exports {
                return Err(format!("{} holds {files:?}, and undisturbed {:?}", folder.display(), expected.exports));
            }
        }
        Ok(())
    }
}

/// Returns true if a command that only reads came before the first run had made the store.
fn found_no_store(ended: &Ended) -> bool {
    ended.code == 4 && ended.stderr.contains("error: there is no store in ")
}
