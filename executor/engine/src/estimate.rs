//! Estimates the cost of cells from earlier runs of their kind.
//!
//! A stage declares its amount of work ([`Stage::work`]), in units of its own and with a *group*: only runs of one
//! group on the same device are compared. Time and bytes written of all such records in the store are added up and
//! divided by their units; that rate times the units of the cell is the estimate. Bytes of an output may have units of
//! their own. Memory is what the stage declares for this work, and the most that a run held beyond that. A run that
//! resumed an earlier attempt is left out: the time of all its attempts is not known.
//!
//! A cell has no estimate if no run of its group was recorded, or its work is not known. Neither has a cell that
//! depends on the size of its result, unless the stage declares that size.

use std::collections::{BTreeMap, HashMap};

use cwm_contract::{DeviceChoice, Needs, Stage, Value, Values, Work};
use serde::{Deserialize, Serialize};

use crate::Machine;
use crate::lookup::sources;
use cwm_core::{Digest, Registry};
use cwm_pipeline::plan::{ArtifactOrigin, COMMAND_RUN, Cell, InputPlan, Plan};
use cwm_pipeline::spec::COMMAND;
use cwm_store::ActionRecord;

/// The estimated cost of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Wall-clock seconds, on as many cores as those that were measured had.
    pub seconds: f64,
    /// Most memory at once.
    pub memory_bytes: u64,
    /// Bytes of its outputs.
    pub disk_bytes: u64,
    /// The number of earlier runs behind the estimate.
    pub runs: u64,
}

/// The estimates of some cells together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TotalEstimate {
    /// Cells that have an estimate.
    pub estimated: usize,
    /// Cells that would or may run and have none.
    pub unknown: usize,
    /// Seconds on this machine: those of the longest path of cells that read each other, or more if the machine is busy for longer.
    pub seconds: f64,
    /// Most memory of one of them.
    pub memory_bytes: u64,
    /// Bytes of all outputs.
    pub disk_bytes: u64,
}

/// The group of comparable runs: the kind of stage, the group of its work, and the device.
type Group = (String, String, String);

/// The device name of the CPU in a [`Group`].
const PROCESSOR: &str = "cpu";

/// The sum of some runs of one group.
#[derive(Clone, Debug, Default)]
struct MeasuredRuns {
    runs: u64,
    units: f64,
    seconds: f64,
    /// The most that a run held beyond what its work takes by its size.
    memory: u64,
    outputs: BTreeMap<String, Bytes>,
}

/// The bytes of an output of some runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bytes {
    count: u64,
    /// The units of work that they grow with.
    units: f64,
}

impl Bytes {
    /// Returns the bytes for so many units, by the measured rate.
    fn of(self, units: f64) -> Option<u64> {
        (self.units > 0.0).then(|| (self.count as f64 * (units / self.units)) as u64)
    }
}

/// The measured rates of earlier runs, and the cells that were estimated so far.
pub struct Estimates {
    measured: HashMap<Group, MeasuredRuns>,
    /// The GPU that was computed on last; empty if none was.
    gpu: String,
    /// The bytes of the outputs of each cell so far, if they are known.
    outputs: HashMap<usize, BTreeMap<String, u64>>,
    machine: Machine,
    /// The value of `--device`.
    device: Option<DeviceChoice>,
    has_gpu_support: bool,
    total: TotalEstimate,
    /// Seconds of all cells so far, each times its part of the machine.
    busy: f64,
    /// Seconds until the end of each cell so far, if it waits only for the cells that it reads.
    ends: HashMap<usize, f64>,
}

impl Estimates {
    /// Measures these records. `sizes` has the sizes of external files by content, `device` is the value of `--device`.
    pub fn new(
        records: &[ActionRecord],
        mut sizes: HashMap<Digest, u64>,
        registry: &Registry,
        machine: Machine,
        device: Option<DeviceChoice>,
    ) -> Self {
        let outputs = records.iter().flat_map(|record| record.outputs.values());
        sizes.extend(outputs.map(|output| (output.digest, output.size)));
        let mut measured: HashMap<Group, MeasuredRuns> = HashMap::new();
        // A result that was taken over took no time.
        let computed = |record: &&ActionRecord| !record.run_info.is_resumed && !record.is_recorded_by_hand();
        for record in records.iter().filter(computed) {
            let stage = registry.get(&record.components.kind);
            let inputs = input_sizes(record, &sizes);
            let values = complete(stage, &record.components.parameters);
            let Some(work) = work(stage, &values, &inputs) else { continue };
            let group = (record.components.kind.clone(), work.group.clone(), device_of(record).to_owned());
            let sum = measured.entry(group).or_default();
            sum.runs += 1;
            sum.units += work.units;
            sum.seconds += record.run_info.wall_seconds;
            sum.memory = sum.memory.max(record.run_info.peak_memory_bytes.saturating_sub(work.memory));
            for (name, output) in &record.outputs {
                let bytes = sum.outputs.entry(name.clone()).or_default();
                bytes.count += output.size;
                bytes.units += units(&work, name);
            }
        }
        let on_gpu = records.iter().filter(|record| device_of(record) != PROCESSOR);
        let gpu = on_gpu.max_by_key(|record| record.run_info.started).map_or("", device_of).to_owned();
        let (has_gpu_support, outputs, total) = (registry.has_gpu_support, HashMap::new(), TotalEstimate::default());
        let (busy, ends) = (0.0, HashMap::new());
        Estimates { measured, gpu, outputs, machine, device, has_gpu_support, total, busy, ends }
    }

    /// Adds the sizes of the outputs of a cached cell.
    pub fn add_cached(&mut self, index: usize, record: &ActionRecord) {
        let sizes = record.outputs.iter().map(|(name, output)| (name.clone(), output.size));
        self.outputs.insert(index, sizes.collect());
    }

    /// Estimates the cost of a cell, after its sources, and adds it to the total.
    pub fn add_cell(&mut self, plan: &Plan, index: usize) -> Option<Estimate> {
        let cell = &plan.cells[index];
        let start = sources(cell).filter_map(|source| self.ends.get(&source)).copied().fold(0.0, f64::max);
        let estimate = self.estimate(plan, index);
        let end = start + estimate.map_or(0.0, |estimate| estimate.seconds);
        self.ends.insert(index, end);
        let Some(estimate) = estimate else {
            self.total.unknown += 1;
            return None;
        };
        self.total.estimated += 1;
        self.busy += estimate.seconds * self.share(&cell.settings.needs);
        self.total.seconds = self.total.seconds.max(end).max(self.busy);
        self.total.memory_bytes = self.total.memory_bytes.max(estimate.memory_bytes);
        self.total.disk_bytes += estimate.disk_bytes;
        Some(estimate)
    }

    /// Returns the sum of all cells that were estimated.
    pub fn total(&self) -> TotalEstimate {
        self.total
    }

    /// Returns the part of the machine that a cell keeps busy: the larger of its parts of the cores and of the accelerators.
    fn share(&self, needs: &Needs) -> f64 {
        let cores = needs.cpu.map_or(1.0, |cores| f64::from(cores) / f64::from(self.machine.cores));
        let devices = if self.machine.devices.is_empty() { 0.0 } else { needs.gpu / self.machine.devices.len() as f64 };
        cores.max(devices).min(1.0)
    }

    fn estimate(&mut self, plan: &Plan, index: usize) -> Option<Estimate> {
        let cell = &plan.cells[index];
        let stage = cell.stage();
        let work = work(stage, &cell.values, &self.inputs(cell))?;
        let device = if self.on_gpu(cell, stage) { self.gpu.clone() } else { PROCESSOR.to_owned() };
        let Some(measured) = self.measured.get(&(cell.kind.clone(), work.group.clone(), device)) else {
            // Its readers may have been measured nevertheless.
            let expected_bytes = work.bytes.iter().map(|(name, bytes)| (name.clone(), *bytes as u64));
            self.outputs.insert(index, expected_bytes.collect());
            return None;
        };
        let bytes_of = |(name, bytes): (&String, &Bytes)| Some((name.clone(), bytes.of(units(&work, name))?));
        let outputs: BTreeMap<String, u64> = measured.outputs.iter().filter_map(bytes_of).collect();
        let estimate = Estimate {
            seconds: measured.seconds * (work.units / measured.units),
            memory_bytes: measured.memory.saturating_add(work.memory),
            disk_bytes: outputs.values().sum(),
            runs: measured.runs,
        };
        self.outputs.insert(index, outputs);
        Some(estimate)
    }

    /// Returns true if a cell is expected to compute on a GPU.
    fn on_gpu(&self, cell: &Cell, stage: Option<&dyn Stage>) -> bool {
        let granted = cell.settings.needs.gpu > 0.0 && !self.machine.devices.is_empty();
        stage.is_some_and(|stage| stage.uses_devices())
            && match self.device.unwrap_or(cell.settings.device) {
                DeviceChoice::Cpu => false,
                DeviceChoice::Cuda(_) | DeviceChoice::Wgpu(_) => true,
                DeviceChoice::Auto => self.has_gpu_support && granted,
            }
    }

    /// Returns the bytes of each input of a cell, if they are known.
    fn inputs(&self, cell: &Cell) -> BTreeMap<String, Option<u64>> {
        let size = |from: &ArtifactOrigin| match from {
            ArtifactOrigin::Cell { index, output_name } => self.outputs.get(index)?.get(output_name).copied(),
            ArtifactOrigin::File(path) => {
                std::fs::metadata(path).ok().filter(|found| found.is_file()).map(|found| found.len())
            }
        };
        let of_input = |input: &InputPlan| {
            let bytes = input.sources.iter().map(|source| size(&source.from)).sum::<Option<u64>>();
            (input.name.clone(), bytes)
        };
        cell.inputs.iter().map(of_input).collect()
    }
}

/// Returns the units of work that the bytes of an output grow with.
fn units(work: &Work, output: &str) -> f64 {
    work.bytes.get(output).copied().unwrap_or(work.units)
}

/// Returns the device of a run: a GPU by its name without its number, since GPUs of one name are equally fast.
fn device_of(record: &ActionRecord) -> &str {
    match record.run_info.computed_on.as_deref() {
        None | Some(PROCESSOR) => PROCESSOR,
        Some(gpu) => gpu.split_once(", ").map_or(gpu, |(_, name)| name),
    }
}

/// Returns the amount of work; of a command, the bytes that it reads, or 1 if it reads none.
fn work(stage: Option<&dyn Stage>, values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
    let bytes: Option<u64> = inputs.values().copied().sum();
    let work = match (stage, values.get(COMMAND_RUN)) {
        (Some(stage), _) => stage.work(values, inputs)?,
        (None, Some(Value::Text(run))) => Work::new(run.clone(), bytes?.max(1) as f64),
        (None, _) => return None,
    };
    (work.units.is_finite() && work.units > 0.0).then_some(work)
}

/// Returns the parameters of a recorded action, with defaults for those that are not in its key.
fn complete(stage: Option<&dyn Stage>, recorded: &Values) -> Values {
    let mut values = recorded.clone();
    for spec in stage.map(|stage| stage.parameters()).unwrap_or_default() {
        if let Some(default) = spec.default {
            values.entry(spec.name.to_owned()).or_insert(default);
        }
    }
    values
}

/// Returns the bytes of each input of a recorded action, if they are known.
fn input_sizes(record: &ActionRecord, sizes: &HashMap<Digest, u64>) -> BTreeMap<String, Option<u64>> {
    let of_input = |(name, artifacts): (&String, &Vec<(String, Digest)>)| {
        let bytes = artifacts.iter().map(|(_, digest)| sizes.get(digest).copied()).sum::<Option<u64>>();
        (name.clone(), bytes)
    };
    let is_read = |(name, _): &(&String, &Vec<(String, Digest)>)| record.components.kind != COMMAND || *name != "deps";
    record.components.inputs.iter().filter(is_read).map(of_input).collect()
}

#[cfg(test)]
mod tests;
