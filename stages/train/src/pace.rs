//! How fast a training goes, for the record of the action: nothing of it is in an output.

use std::time::{Duration, Instant};

use cwm_contract::Context;

/// What a training does that is not learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Waiting for the next batch.
    Data,
    /// Validating.
    Validation,
    /// Keeping a checkpoint.
    Checkpoint,
}

/// Where the time went since this process began to train; what an interrupted one did before is not in it.
#[derive(Debug)]
pub struct Pace {
    begun: Instant,
    /// By [`Pause`].
    paused: [Duration; 3],
    steps: u64,
    positions: u64,
}

/// The figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// From the first step to now.
    pub seconds: f64,
    /// Of them, by [`Pause`].
    pub paused: [f64; 3],
    /// Positions learnt from in a second of learning and of waiting for data.
    pub positions_per_second: f64,
    /// Steps in such a second.
    pub steps_per_second: f64,
    /// Share of that time that went by in waiting, from 0 to 1.
    pub waiting: f64,
}

impl Pace {
    /// Begins now.
    pub fn begin() -> Self {
        Pace { begun: Instant::now(), paused: [Duration::ZERO; 3], steps: 0, positions: 0 }
    }

    /// Does `work`, whose time counts as `pause`.
    pub fn during<T>(&mut self, pause: Pause, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.paused[pause as usize] += begun.elapsed();
        done
    }

    /// Counts a step over so many positions.
    pub fn count(&mut self, positions: usize) {
        self.steps += 1;
        self.positions += positions as u64;
    }

    fn figures(&self, elapsed: Duration) -> Figures {
        let paused = self.paused.map(|paused| paused.as_secs_f64());
        let seconds = elapsed.as_secs_f64();
        let learning = seconds - paused[Pause::Validation as usize] - paused[Pause::Checkpoint as usize];
        let per_second = |count: u64| if learning > 0.0 { count as f64 / learning } else { 0.0 };
        Figures {
            seconds,
            paused,
            positions_per_second: per_second(self.positions),
            steps_per_second: per_second(self.steps),
            waiting: if learning > 0.0 { paused[Pause::Data as usize] / learning } else { 0.0 },
        }
    }

    /// Tells the figures: a line for the log, and each with the action's record.
    pub fn tell(&self, context: &Context) {
        if self.steps == 0 {
            return;
        }
        let figures = self.figures(self.begun.elapsed());
        context.log(figures.line(self.steps));
        context.metric("training_seconds", figures.seconds);
        context.metric("validation_seconds", figures.paused[Pause::Validation as usize]);
        context.metric("checkpoint_seconds", figures.paused[Pause::Checkpoint as usize]);
        context.metric("positions_per_second", figures.positions_per_second);
        context.metric("steps_per_second", figures.steps_per_second);
        context.metric("waiting_share", figures.waiting);
    }
}

impl Figures {
    fn line(&self, steps: u64) -> String {
        format!(
            "{steps} steps in {:.1} s, {:.1} s of it validation and {:.1} s checkpoints: {:.0} positions a second, waiting \
             for data {:.1} %",
            self.seconds,
            self.paused[Pause::Validation as usize],
            self.paused[Pause::Checkpoint as usize],
            self.positions_per_second,
            self.waiting * 100.0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_out() {
        let mut pace = Pace::begin();
        let seconds = Duration::from_secs;
        // Ten seconds, of which five belong to neither learning nor feeding, and a tenth of the others was waiting.
        pace.paused = [Duration::from_millis(500), seconds(3), seconds(2)];
        (0..20).for_each(|_| pace.count(1_000));
        let figures = pace.figures(seconds(10));
        assert_eq!((figures.positions_per_second, figures.steps_per_second, figures.waiting), (4_000.0, 4.0, 0.1));
        assert_eq!(
            figures.line(20),
            "20 steps in 10.0 s, 3.0 s of it validation and 2.0 s checkpoints: 4000 positions a second, waiting for data 10.0 %"
        );
        assert_eq!(pace.figures(seconds(0)).waiting, 0.0);
    }

    #[test]
    fn pauses_are_measured_and_hand_on_what_was_made() {
        let mut pace = Pace::begin();
        assert_eq!(pace.during(Pause::Checkpoint, || 7), 7);
        let begun = Instant::now();
        pace.during(Pause::Data, || std::thread::sleep(Duration::from_millis(2)));
        let most = begun.elapsed();
        assert!((Duration::from_millis(2)..=most).contains(&pace.paused[Pause::Data as usize]));
        assert_eq!(pace.paused[Pause::Validation as usize], Duration::ZERO);
    }
}
