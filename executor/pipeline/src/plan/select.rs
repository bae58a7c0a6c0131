//! Selects cells and outputs by the addresses that people type.

use std::collections::BTreeSet;
use std::fmt;

use cwm_contract::Format;
use cwm_core::Error;

use super::Plan;
use super::references::{Address, address};
use cwm_core::names::list;
use cwm_core::{suggest, visible};

/// An address that names nothing in this pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectError {
    /// The problem, in a sentence.
    pub message: String,
    /// The probable meaning, or the existing names.
    pub hint: Option<String>,
}

impl fmt::Display for SelectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SelectError {}

impl From<SelectError> for Error {
    fn from(error: SelectError) -> Self {
        Error { hints: error.hint.into_iter().collect(), ..Error::usage(error.message) }
    }
}

impl Plan {
    /// The cells that `stage` or `stage[axis=value,…]` means, in the plan's order; axes may be left out.
    ///
    /// # Errors
    /// There is no such stage, axis or cell, or the address names an output.
    pub fn select(&self, text: &str) -> Result<Vec<usize>, SelectError> {
        let address = read(text)?;
        match address.port {
            None => self.cells_at(&address),
            Some(port) => Err(SelectError {
                message: format!("`{}` names the output `{port}`, and a stage is wanted here", visible(text)),
                hint: text
                    .strip_suffix(port)
                    .map(|stage| format!("leave the output out: `{}`", stage.trim_end_matches('.'))),
            }),
        }
    }

    /// Returns the cells that any of `words` selects, in the plan's order, each once. Without words it returns all cells.
    ///
    /// # Errors
    /// As [`Plan::select`].
    pub fn select_all(&self, words: &[String]) -> Result<Vec<usize>, SelectError> {
        if words.is_empty() {
            return Ok((0..self.cells.len()).collect());
        }
        let mut cells = BTreeSet::new();
        for word in words {
            cells.extend(self.select(word)?);
        }
        Ok(cells.into_iter().collect())
    }

    /// The outputs that `stage.port` or `stage[…].port` means: cell and port. Without a port it is the only output.
    ///
    /// # Errors
    /// As [`Plan::select`]; or there is no such output, or the stage has several and none is named.
    pub fn select_outputs(&self, text: &str) -> Result<Vec<(usize, String)>, SelectError> {
        self.outputs_at(text, None)
    }

    /// Returns the same for an output of `format`: without a port it is the only one of that format.
    ///
    /// # Errors
    /// As [`Plan::select_outputs`]. The caller checks the format of a named output.
    pub fn select_outputs_of(&self, text: &str, format: &Format) -> Result<Vec<(usize, String)>, SelectError> {
        self.outputs_at(text, Some(format))
    }

    fn outputs_at(&self, text: &str, wanted: Option<&Format>) -> Result<Vec<(usize, String)>, SelectError> {
        let address = read(text)?;
        let mut selected = Vec::new();
        for cell in self.cells_at(&address)? {
            let outputs = &self.cells[cell].outputs;
            let names: Vec<_> = outputs.iter().map(|output| output.name.as_str()).collect();
            let of_format = outputs.iter().filter(|output| Some(&output.format) == wanted);
            let of_format: Vec<_> = of_format.map(|output| output.name.as_str()).collect();
            let port = match (address.port, &names[..]) {
                (None, _) if of_format.len() == 1 => of_format[0],
                (Some(port), _) if names.contains(&port) => port,
                (Some(port), _) => {
                    return Err(SelectError {
                        message: format!("stage `{}` has no output `{}`", address.stage, visible(port)),
                        hint: suggest(port, "outputs", names.iter().copied()),
                    });
                }
                (None, [only]) => only,
                (None, _) => {
                    return Err(SelectError {
                        message: format!("stage `{}` has several outputs", address.stage),
                        hint: list(&names)
                            .map(|list| format!("name one of them, as in `{}.{}`: {list}", text, names[0])),
                    });
                }
            };
            selected.push((cell, port.to_owned()));
        }
        Ok(selected)
    }

    fn cells_at(&self, address: &Address) -> Result<Vec<usize>, SelectError> {
        let fault = |message: String, hint: Option<String>| Err(SelectError { message, hint });
        let Some(stage) = self.stages.iter().find(|stage| stage.name == address.stage) else {
            let names = self.stages.iter().map(|stage| stage.name.as_str());
            return fault(
                format!("this pipeline has no stage `{}`", visible(address.stage)),
                suggest(address.stage, "stages", names),
            );
        };
        let mut cells = stage.cells.clone();
        for (position, (axis, label)) in address.coordinates.iter().enumerate() {
            if address.coordinates[..position].iter().any(|(other, _)| other == axis) {
                return fault(format!("axis `{}` is fixed twice", visible(axis)), None);
            }
            if !stage.axes.iter().any(|name| name == axis) {
                let names = stage.axes.iter().map(String::as_str);
                return fault(
                    format!("stage `{}` has no axis `{}`", stage.name, visible(axis)),
                    suggest(axis, "axes", names).or(Some("it has no axes at all".into())),
                );
            }
            cells.retain(|&cell| self.cells[cell].label.coordinate(axis) == Some(label));
            if cells.is_empty() {
                let mut labels: Vec<_> =
                    stage.cells.iter().filter_map(|&cell| self.cells[cell].label.coordinate(axis)).collect();
                labels.sort_unstable();
                labels.dedup();
                return fault(
                    format!("stage `{}` has no cell with {axis}={}", stage.name, visible(label)),
                    suggest(label, "values", labels),
                );
            }
        }
        Ok(cells)
    }
}

fn read(text: &str) -> Result<Address<'_>, SelectError> {
    address(text).map_err(|message| SelectError {
        message,
        hint: Some("stages are addressed `stage` or `stage[axis=value]`, outputs `stage.output`".into()),
    })
}
