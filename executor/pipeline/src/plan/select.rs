//! Selects cells and outputs by the addresses that people type.

use std::collections::BTreeSet;

use cwm_contract::Format;

use super::Plan;
use super::references::{Address, address};
use super::stage_kind::find_output;
use cwm_core::{Error, escape_controls, suggest};

impl Plan {
    /// Returns the cells that `stage` or `stage[axis=value,…]` means, in the plan's order; axes may be left out.
    ///
    /// # Errors
    /// There is no such stage, axis or cell, or the address names an output.
    pub fn select(&self, text: &str) -> Result<Vec<usize>, Error> {
        let address = read(text)?;
        let cells = self.cells_at(&address)?;
        let Some(name) = address.output_name else { return Ok(cells) };
        let message = format!("`{}` names the output `{name}`, and a stage is needed here", escape_controls(text));
        Err(Error::usage(message)
            .hint(format!("leave the output out: `{}`", text[..text.len() - name.len()].trim_end_matches('.'))))
    }

    /// Returns the cells that any of `words` selects, in the plan's order, each once. Without words it returns all cells.
    ///
    /// # Errors
    /// As [`Plan::select`].
    pub fn select_all(&self, words: &[String]) -> Result<Vec<usize>, Error> {
        if words.is_empty() {
            return Ok((0..self.cells.len()).collect());
        }
        let mut cells = BTreeSet::new();
        for word in words {
            cells.extend(self.select(word)?);
        }
        Ok(cells.into_iter().collect())
    }

    /// Returns the outputs that `stage.output` or `stage[…].output` means, each with its cell. Without a name it is the
    /// only one of `format`, or the only output. The caller checks the format of a named output.
    ///
    /// # Errors
    /// As [`Plan::select`]; or there is no such output, or the stage has several and none is named.
    pub fn select_outputs(&self, text: &str, format: Option<&Format>) -> Result<Vec<(usize, String)>, Error> {
        let address = read(text)?;
        let output_of = |cell: usize| {
            let outputs = &self.cells[cell].outputs;
            let found = find_output(&address.label.stage, outputs, address.output_name, format.unwrap_or(&Format::ANY));
            Ok((cell, found.map_err(|problem| rejected(problem.message, problem.hint))?.name.clone()))
        };
        self.cells_at(&address)?.into_iter().map(output_of).collect()
    }

    fn cells_at(&self, address: &Address) -> Result<Vec<usize>, Error> {
        let Some(stage) = self.stages.iter().find(|stage| stage.name == address.label.stage) else {
            let names = self.stages.iter().map(|stage| stage.name.as_str());
            let message = format!("this pipeline has no stage `{}`", escape_controls(&address.label.stage));
            return Err(rejected(message, suggest(&address.label.stage, "stages", names)));
        };
        let labels = |axis: usize| {
            let labels = stage.cells.iter().map(move |&cell| self.cells[cell].label.coordinates[axis].1.as_str());
            labels.collect::<BTreeSet<_>>().into_iter().collect()
        };
        let axes: Vec<_> =
            stage.axes.iter().enumerate().map(|(axis, name)| (name.as_str(), None, labels(axis))).collect();
        let fixed = address.fixed(&axes).map_err(|problem| rejected(problem.message, problem.hint))?;
        let is_meant = |cell: &usize| {
            let coordinates = &self.cells[*cell].label.coordinates;
            fixed.iter().all(|(axis, label)| coordinates[*axis].1 == *label)
        };
        Ok(stage.cells.iter().copied().filter(is_meant).collect())
    }
}

fn read(text: &str) -> Result<Address<'_>, Error> {
    address(text).map_err(|message| {
        Error::usage(message).hint(
            "stages are addressed `stage` or `stage[axis=value]`, outputs `stage.output`; `cwm status` lists the stages",
        )
    })
}

fn rejected(message: String, hint: Option<String>) -> Error {
    hint.into_iter().fold(Error::usage(message), Error::hint)
}
