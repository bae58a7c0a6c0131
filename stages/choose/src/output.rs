//! The outputs while they are written.

use cwm_choices::{Choice, ChoicesWriter, Chooser};
use cwm_contract::{Context, Failure};

use crate::counts::Counts;
use crate::positions::Position;
use crate::training_overlap::TrainingOverlap;

/// The outputs `choices` and `counts`, and the metrics.
pub struct OutputWriter {
    writer: ChoicesWriter,
    seen: Option<TrainingOverlap>,
    rows: u64,
    /// Valid, legal and best free answers.
    answers: [u64; 3],
}

impl OutputWriter {
    /// Creates the output without rows.
    ///
    /// # Errors
    /// An operation on the disk fails, or an input cannot be read.
    pub fn create(context: &Context, chooser: &Chooser) -> Result<Self, Failure> {
        let seen = TrainingOverlap::of(context, context.input("evaluations")?)?;
        let writer = ChoicesWriter::create(context.output("choices")?, chooser)?;
        Ok(OutputWriter { writer, seen, rows: 0, answers: [0; 3] })
    }

    /// A row of this position whose answers are not known yet.
    pub fn row(&self, position: &Position) -> Choice {
        let evaluation = &position.evaluation;
        Choice {
            record: evaluation.record,
            game: evaluation.game,
            t: evaluation.t,
            fen: evaluation.fen.clone(),
            legal_moves: position.legal_moves,
            best: evaluation.best(),
            seen: self.seen.as_ref().map(|seen| seen.has(&evaluation.fen)),
            ..Choice::default()
        }
    }

    /// Writes a row.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&mut self, choice: Choice) -> Result<(), Failure> {
        self.rows += 1;
        let free = [choice.free.valid, choice.free.legal, choice.free.best];
        self.answers.iter_mut().zip(free).for_each(|(count, is)| *count += u64::from(is));
        self.writer.push(choice)
    }

    /// Ends both.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(self, context: &Context, counts: &Counts) -> Result<(), Failure> {
        self.writer.finish()?;
        counts.write(context)?;
        context.metric("positions", self.rows as f64);
        for (name, count) in ["valid", "legal", "best"].into_iter().zip(self.answers) {
            context.metric(name, count as f64 / self.rows.max(1) as f64);
        }
        Ok(())
    }
}
