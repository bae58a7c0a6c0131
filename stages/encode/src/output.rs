//! The outputs while they are written.

use cwm_contract::{Context, Failure};
use cwm_sequences::{SHARD_ROWS, Sequence, SequencesWriter};

use crate::config::Config;
use crate::counts::Counts;
use crate::encoded_sequence::{EncodedSequence, Row};
use crate::forms::Form;

/// The outputs `sequences` and `counts`.
pub struct OutputWriter {
    writer: SequencesWriter,
    counts: Counts,
}

impl OutputWriter {
    /// Creates the outputs, before the first row.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn create(context: &Context, form: &'static Form, config: &Config) -> Result<Self, Failure> {
        let writer = SequencesWriter::create(context.output("sequences")?, &form.vocabulary(config), SHARD_ROWS)?;
        Ok(OutputWriter { writer, counts: Counts::new(form) })
    }

    /// Writes and counts the sequence of a position, a game or an example.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&mut self, encoded: EncodedSequence) -> Result<(), Failure> {
        if let Some(row) = &encoded.row {
            let Row { id, tokens, targets } = row;
            self.writer.push(Sequence { id, tokens, targets })?;
            self.counts.add(row);
        }
        if encoded.is_truncated {
            self.counts.count_truncated();
        }
        if let Some((reason, count)) = encoded.dropped {
            self.counts.count_dropped(reason, count);
        }
        Ok(())
    }

    /// Ends both.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(self, context: &Context) -> Result<(), Failure> {
        self.writer.finish()?;
        self.counts.finish(context)
    }
}
