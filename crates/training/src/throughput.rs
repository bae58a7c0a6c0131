//! Measures the speed of a training, for the record of the action: nothing of it is in an output.

use std::time::{Duration, Instant};

use cwm_contract::Context;

/// Work of a training that is not a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overhead {
    /// Waiting for the next batch.
    Data,
    /// Computing the validation loss.
    Validation,
    /// Writing a checkpoint.
    Checkpoint,
}

/// The time since this process began to train, by use; the time of an earlier, interrupted process is not in it.
#[derive(Debug)]
pub struct Throughput {
    started: Instant,
    /// By [`Overhead`].
    overheads: [Duration; 3],
    steps: u64,
    positions: u64,
}

/// The reported numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The seconds from the first step to now.
    pub seconds: f64,
    /// Seconds by [`Overhead`].
    pub overheads: [f64; 3],
    /// Positions learnt from in a second of learning and of waiting for data.
    pub positions_per_second: f64,
    /// Steps in such a second.
    pub steps_per_second: f64,
    /// Share of that time that went by in waiting, from 0 to 1.
    pub waiting: f64,
}

impl Throughput {
    /// Starts the clock.
    pub fn start() -> Self {
        Throughput { started: Instant::now(), overheads: [Duration::ZERO; 3], steps: 0, positions: 0 }
    }

    /// Does `work`; its time counts as `overhead`.
    pub fn during<T>(&mut self, overhead: Overhead, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.overheads[overhead as usize] += begun.elapsed();
        done
    }

    /// Counts a step over so many positions.
    pub fn count(&mut self, positions: usize) {
        self.steps += 1;
        self.positions += positions as u64;
    }

    fn summary(&self, elapsed: Duration) -> Summary {
        let overheads = self.overheads.map(|overhead| overhead.as_secs_f64());
        let seconds = elapsed.as_secs_f64();
        let learning = seconds - overheads[Overhead::Validation as usize] - overheads[Overhead::Checkpoint as usize];
        let per_second = |count: u64| if learning > 0.0 { count as f64 / learning } else { 0.0 };
        Summary {
            seconds,
            overheads,
            positions_per_second: per_second(self.positions),
            steps_per_second: per_second(self.steps),
            waiting: if learning > 0.0 { overheads[Overhead::Data as usize] / learning } else { 0.0 },
        }
    }

    /// Reports the summary: a line for the log, and each number with the action's record.
    pub fn report(&self, context: &Context) {
        if self.steps == 0 {
            return;
        }
        let summary = self.summary(self.started.elapsed());
        context.log(summary.line(self.steps));
        context.metric("training_seconds", summary.seconds);
        context.metric("validation_seconds", summary.overheads[Overhead::Validation as usize]);
        context.metric("checkpoint_seconds", summary.overheads[Overhead::Checkpoint as usize]);
        context.metric("positions_per_second", summary.positions_per_second);
        context.metric("steps_per_second", summary.steps_per_second);
        context.metric("waiting_share", summary.waiting);
    }
}

impl Summary {
    fn line(&self, steps: u64) -> String {
        format!(
            "{steps} steps in {:.1} s, {:.1} s of it validation and {:.1} s checkpoints: {:.0} positions a second, waiting \
             for data {:.1} %",
            self.seconds,
            self.overheads[Overhead::Validation as usize],
            self.overheads[Overhead::Checkpoint as usize],
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
        let mut throughput = Throughput::start();
        let seconds = Duration::from_secs;
        // Ten seconds, of which five belong to neither learning nor feeding, and a tenth of the others was waiting.
        throughput.overheads = [Duration::from_millis(500), seconds(3), seconds(2)];
        (0..20).for_each(|_| throughput.count(1_000));
        let summary = throughput.summary(seconds(10));
        assert_eq!((summary.positions_per_second, summary.steps_per_second, summary.waiting), (4_000.0, 4.0, 0.1));
        assert_eq!(
            summary.line(20),
            "20 steps in 10.0 s, 3.0 s of it validation and 2.0 s checkpoints: 4000 positions a second, waiting for data 10.0 %"
        );
        assert_eq!(throughput.summary(seconds(0)).waiting, 0.0);
    }

    #[test]
    fn overheads_are_measured_and_return_what_was_made() {
        let mut throughput = Throughput::start();
        assert_eq!(throughput.during(Overhead::Checkpoint, || 7), 7);
        let begun = Instant::now();
        throughput.during(Overhead::Data, || std::thread::sleep(Duration::from_millis(2)));
        let most = begun.elapsed();
        assert!((Duration::from_millis(2)..=most).contains(&throughput.overheads[Overhead::Data as usize]));
        assert_eq!(throughput.overheads[Overhead::Validation as usize], Duration::ZERO);
    }
}
