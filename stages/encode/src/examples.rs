//! Encoding examples.

use std::io::BufReader;

use cwm_contract::{Context, Failure};
use cwm_reasoning::{Example, read_examples};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::encoded_sequence::EncodedSequence;
use crate::output::OutputWriter;

/// Encodes all examples in order.
pub fn encode(
    context: &Context,
    threads: &ThreadPool,
    encode: &(dyn Fn(&Example) -> Result<EncodedSequence, String> + Sync),
    output: &mut OutputWriter,
) -> Result<(), Failure> {
    let file = fs_err::File::open(context.input("examples")?)?;
    let examples = read_examples(BufReader::new(file), "the examples")?;
    context.check_cancelled()?;
    let encoded: Vec<_> = threads.install(|| examples.par_iter().map(encode).collect());
    for (example, encoded) in examples.iter().zip(encoded) {
        output.push(encoded.map_err(|wrong| Failure::input(format!("the example {}: {wrong}", example.id)))?)?;
    }
    context.progress(examples.len() as u64, Some(examples.len() as u64), "examples");
    Ok(())
}
