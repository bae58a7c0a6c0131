//! The stage `smooth`: replaces each loss of a training's curves by the mean of the last few.
//!
//! It reads one file and writes one file; it does not depend on the YAML or the store.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

use cwm_contract::{Context, Failure, Format, Input, Output, ParameterSpec, Parameters, Stage, Type, parameters};
use serde_json::{Value, json};

parameters! {
    /// Parameters of `smooth`.
    pub struct Config {
        /// Number of steps in each mean; the first means have fewer.
        pub window: u64 = 10, kind = Type::Integer { min: 1, max: 1_000_000 },
    }
}

/// The stage `smooth`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smooth;

impl Stage for Smooth {
    fn kind(&self) -> &'static str {
        "smooth"
    }

    fn description(&self) -> &'static str {
        "Replaces every training loss of curves by the mean of the last few."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::one("curves", Format::CURVES, "What training recorded.")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file("smooth", Format::CURVES, "jsonl", "The same lines, with other losses.")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        let (input, output) = (context.input("curves")?, context.output("smooth")?);
        let lines = BufReader::new(File::open(input).map_err(|error| Failure::io("read", input, error))?).lines();
        let mut smooth = BufWriter::new(File::create(output).map_err(|error| Failure::io("write", output, error))?);
        let mut last = VecDeque::new();
        for (number, line) in (1u64..).zip(lines) {
            context.check_cancelled()?;
            let line = line.map_err(|error| Failure::io("read", input, error))?;
            // Bad input is an error with its line number, never a panic.
            let mut row: Value = serde_json::from_str(&line)
                .map_err(|error| Failure::input(format!("{} line {number}: {error}", input.display())))?;
            // A loss that is not finite is text; it is copied unchanged, and no mean includes it.
            if let ("train", Some(loss)) = (row["kind"].as_str().unwrap_or_default(), row["loss"].as_f64()) {
                last.push_back(loss);
                if last.len() as u64 > config.window {
                    last.pop_front();
                }
                // Always summed from the oldest: a sum in another order may have other bits.
                row["loss"] = json!(last.iter().sum::<f64>() / last.len() as f64);
            }
            writeln!(smooth, "{row}").map_err(|error| Failure::io("write", output, error))?;
            context.progress(number, None, "lines");
        }
        smooth.flush().map_err(|error| Failure::io("write", output, error))?;
        context.metric("lines_in_window", last.len() as f64);
        Ok(())
    }
}
