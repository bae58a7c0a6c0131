//! Collects the provenance of an output from the plan and its records.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::public::{self, parameter};
use super::{
    CellProvenance, Disclosure, InputProvenance, MachineProvenance, OutputProvenance, PROVENANCE_FORMAT, Provenance,
    StageTotals,
};
use cwm_core::{Digest, Key};
use cwm_pipeline::plan::{ArtifactOrigin, Cell, Plan, StagePlan};
use cwm_store::{ActionRecord, HostInfo};

/// The plan with the records of the cells that an output depends on.
struct Gatherer<'p> {
    plan: &'p Plan,
    records: BTreeMap<usize, &'p ActionRecord>,
    disclosure: Disclosure,
    /// The machines so far, each once, with its host.
    machines: Vec<(&'p str, MachineProvenance)>,
}

/// Collects the provenance of the output `output_name` of `cell`. `record` gives the record of a cell; a cell whose
/// result was lost since has none, and is left out.
pub fn gather<'r>(
    plan: &Plan,
    cell: usize,
    output_name: &str,
    disclosure: Disclosure,
    record: impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Provenance {
    let upstream = plan.ancestors(&[cell]).into_iter();
    let records: BTreeMap<usize, &ActionRecord> = upstream.filter_map(|cell| Some((cell, record(cell)?))).collect();
    let mut counted = BTreeSet::new();
    let stages = plan.stages.iter().map(|stage| totals(stage, &records, &mut counted));
    let stages = stages.filter(|stage| stage.cells > 0).collect();
    let recorded = records.iter().map(|(cell, record)| (&plan.cells[*cell], *record));
    let by_label: BTreeMap<String, (&Cell, &ActionRecord)> =
        recorded.map(|(cell, record)| (cell.label.to_string(), (cell, record))).collect();
    let mut gatherer = Gatherer { plan, records, disclosure, machines: Vec::new() };
    let (mut code, mut cells) = (BTreeMap::new(), BTreeMap::new());
    for (label, (cell, record)) in by_label {
        let cell = gatherer.cell(cell, record);
        code.extend(cell.code.iter().map(|name| (name.clone(), record.components.code.clone())));
        cells.insert(label, cell);
    }
    Provenance {
        format: PROVENANCE_FORMAT,
        cwm: env!("CARGO_PKG_VERSION"),
        pipeline: plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        report: format!("{}.{output_name}", plan.cells[cell].label),
        stages,
        machines: gatherer.machines.into_iter().map(|(_, machine)| machine).collect(),
        code: Some(code),
        cells,
    }
}

/// Returns one name for all parts of the code together; nothing for no code.
fn fingerprint(code: &BTreeMap<String, String>) -> Option<String> {
    let text: String = code.iter().map(|(part, digest)| format!("{part} {digest}\n")).collect();
    (!code.is_empty()).then(|| Digest::of(text.as_bytes()).short())
}

impl<'p> Gatherer<'p> {
    fn cell(&mut self, cell: &Cell, record: &'p ActionRecord) -> CellProvenance {
        let (components, run) = (&record.components, &record.run_info);
        let parameters = components.parameters.iter();
        let parameters: BTreeMap<_, _> = parameters
            .map(|(name, value)| (name.clone(), parameter(&components.kind, name, value, self.disclosure)))
            .collect();
        let outputs = record.outputs.iter().map(|(name, output)| {
            let (format, digest) = (output.format.to_string(), output.digest.to_string());
            (name.clone(), OutputProvenance { format, digest, size: output.size })
        });
        let fetched = record.fetched.iter().map(|one| {
            let url = public::url(&one.fetch.url);
            json!({ "url": url, "sha256": one.sha256, "bytes": one.bytes })
        });
        let code_now = cell.code().ok().flatten();
        CellProvenance {
            stage: cell.kind.clone(),
            key: record.key.to_string(),
            explicit: cell.explicit.keys().filter(|name| parameters.contains_key(*name)).cloned().collect(),
            parameters,
            code: fingerprint(&components.code),
            accepted: code_now.is_some_and(|now| now != components.code),
            inputs: self.inputs(cell, record),
            outputs: outputs.collect(),
            fetched: fetched.collect(),
            run_info: without_null(json!({
                "at": run.started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                "by": (self.disclosure == Disclosure::Full).then_some(&run.user),
                // Somebody gave files as its result.
                "recorded_by_hand": record.is_recorded_by_hand().then_some(true),
                "on": self.machine(&run.machine),
                "cores": run.machine.cores,
                "device": run.computed_on,
                "accelerators": (!run.devices.is_empty()).then_some(&run.devices),
                "cwm": run.cwm_version,
                "seconds": in_milliseconds(run.wall_seconds),
                "cpu_seconds": in_milliseconds(run.user_seconds + run.system_seconds),
                "peak_memory_bytes": run.peak_memory_bytes,
            })),
        }
    }

    /// Adds the machine of a cell. Returns its name in the provenance.
    fn machine(&mut self, machine: &'p HostInfo) -> String {
        let known = self.machines.iter().position(|(host, known)| (*host, &known.os) == (&machine.host, &machine.os));
        let number = known.unwrap_or_else(|| {
            let name = match self.disclosure {
                Disclosure::Full => machine.host.clone(),
                Disclosure::Public => format!("machine {}", self.machines.len() + 1),
            };
            self.machines.push((&machine.host, MachineProvenance { name, os: machine.os.clone(), cores: 0 }));
            self.machines.len() - 1
        });
        let (_, known) = &mut self.machines[number];
        // A stage is often given fewer cores than there are.
        known.cores = known.cores.max(machine.cores);
        known.name.clone()
    }

    fn inputs(&self, cell: &Cell, record: &ActionRecord) -> BTreeMap<String, Vec<InputProvenance>> {
        let of_file = |name: String, digest: Option<&Digest>| {
            let (file, digest) = (Some(name), digest.map(Digest::to_string));
            InputProvenance { file, digest, ..InputProvenance::default() }
        };
        let mut inputs = BTreeMap::new();
        // A command may declare dependencies in addition to its inputs.
        for (name, group) in &record.components.inputs {
            let files = group.iter().map(|(name, digest)| of_file(name.clone(), Some(digest)));
            inputs.insert(name.clone(), files.collect());
        }
        for input in &cell.inputs {
            let keyed = record.components.inputs.get(&input.name);
            let sources = input.sources.iter().enumerate().map(|(ordinal, source)| match &source.from {
                ArtifactOrigin::Cell { index, output_name } => {
                    let output = self.records.get(index).and_then(|record| record.outputs.get(output_name));
                    InputProvenance {
                        cell: Some(self.plan.cells[*index].label.to_string()),
                        output: Some(output_name.clone()),
                        digest: output.map(|output| output.digest.to_string()),
                        file: None,
                    }
                }
                ArtifactOrigin::File(path) => {
                    let label = input.key_label(ordinal);
                    let digest = keyed.and_then(|keyed| keyed.iter().find(|(name, _)| *name == label));
                    of_file(public::file(path, self.disclosure), digest.map(|(_, digest)| digest))
                }
            });
            inputs.insert(input.name.clone(), sources.collect());
        }
        inputs
    }
}

/// Sums over the cells of a stage, but for results that are `counted` already.
fn totals(stage: &StagePlan, records: &BTreeMap<usize, &ActionRecord>, counted: &mut BTreeSet<Key>) -> StageTotals {
    let mut sum = StageTotals { name: stage.name.clone(), kind: stage.kind.clone(), ..StageTotals::default() };
    for record in stage.cells.iter().filter_map(|index| records.get(index)) {
        sum.cells += 1;
        if counted.insert(record.key) {
            let run = &record.run_info;
            sum.seconds += run.wall_seconds;
            sum.cpu_seconds += run.user_seconds + run.system_seconds;
            sum.peak_memory_bytes = sum.peak_memory_bytes.max(run.peak_memory_bytes);
            sum.bytes += record.outputs.values().map(|output| output.size).sum::<u64>();
        }
    }
    StageTotals { seconds: in_milliseconds(sum.seconds), cpu_seconds: in_milliseconds(sum.cpu_seconds), ..sum }
}

/// Returns a map without the keys that have no value.
fn without_null(mut map: Value) -> Value {
    if let Value::Object(entries) = &mut map {
        entries.retain(|_, value| !value.is_null());
    }
    map
}

/// Rounds to milliseconds: more digits have no meaning.
fn in_milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
