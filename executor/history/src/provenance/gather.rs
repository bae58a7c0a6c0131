//! Collects the provenance of an output from the plan and its records.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::Value;

use super::public::{self, parameter};
use super::{
    CellProvenance, Disclosure, FetchProvenance, InputProvenance, MachineProvenance, OutputProvenance,
    PROVENANCE_FORMAT, Provenance, RunProvenance, StageTotals,
};
use cwm_core::{Digest, Key};
use cwm_pipeline::plan::{Cell, InputPlan, Origin, Plan, Source};
use cwm_store::{ActionRecord, Machine};

/// The plan with the records of its cells.
struct Gatherer<'p, F> {
    plan: &'p Plan,
    disclosure: Disclosure,
    record: F,
}

/// Collects the provenance of the output `port` of `cell`. `record` gives the record of a cell; a cell whose result was lost
/// since has none, and is left out.
pub fn gather<'r>(
    plan: &Plan,
    cell: usize,
    port: &str,
    disclosure: Disclosure,
    record: impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Provenance {
    let gatherer = Gatherer { plan, disclosure, record };
    let mut upstream: Vec<(usize, &ActionRecord)> =
        plan.ancestors(&[cell]).into_iter().filter_map(|index| Some((index, (gatherer.record)(index)?))).collect();
    let stages = totals(plan, &upstream);
    let (mut machines, mut code, mut cells) = (Machines::default(), BTreeMap::new(), BTreeMap::new());
    upstream.sort_by_key(|(index, _)| plan.cells[*index].label.to_string());
    for (index, record) in upstream {
        let machine = machines.add(&record.circumstances.machine, disclosure);
        let fingerprint = fingerprint(&record.components.code);
        code.extend(fingerprint.iter().map(|name| (name.clone(), record.components.code.clone())));
        let cell = &plan.cells[index];
        cells.insert(cell.label.to_string(), gatherer.cell(cell, record, machine, fingerprint));
    }
    Provenance {
        format: PROVENANCE_FORMAT,
        cwm: env!("CARGO_PKG_VERSION"),
        pipeline: plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        report: format!("{}.{port}", plan.cells[cell].label),
        stages,
        machines: machines.disclosed,
        code: Some(code),
        cells,
    }
}

/// The machines of all cells, each once.
#[derive(Default)]
struct Machines<'r> {
    recorded: Vec<&'r Machine>,
    disclosed: Vec<MachineProvenance>,
}

impl<'r> Machines<'r> {
    /// Adds the machine of a cell. Returns its name in the provenance.
    fn add(&mut self, machine: &'r Machine, disclosure: Disclosure) -> String {
        let is_same = |known: &&Machine| (&known.host, &known.os) == (&machine.host, &machine.os);
        let number = self.recorded.iter().position(is_same).unwrap_or_else(|| {
            let name = match disclosure {
                Disclosure::Full => machine.host.clone(),
                Disclosure::Public => format!("machine {}", self.recorded.len() + 1),
            };
            self.disclosed.push(MachineProvenance { name, os: machine.os.clone(), cores: 0 });
            self.recorded.push(machine);
            self.recorded.len() - 1
        });
        let disclosed = &mut self.disclosed[number];
        // A stage is often given fewer cores than there are.
        disclosed.cores = disclosed.cores.max(machine.cores);
        disclosed.name.clone()
    }
}

/// Returns one name for all parts of the code together; nothing for no code.
fn fingerprint(code: &BTreeMap<String, String>) -> Option<String> {
    let text: String = code.iter().map(|(part, digest)| format!("{part} {digest}\n")).collect();
    (!code.is_empty()).then(|| Digest::of(text.as_bytes()).short())
}

impl<'r, F: Fn(usize) -> Option<&'r ActionRecord>> Gatherer<'_, F> {
    fn cell(&self, cell: &Cell, record: &ActionRecord, on: String, code: Option<String>) -> CellProvenance {
        let kind = &record.components.kind;
        let shown = |(name, value): (&String, &Value)| (name.clone(), parameter(kind, name, value, self.disclosure));
        let parameters: BTreeMap<String, Value> = record.components.parameters.iter().map(shown).collect();
        let given = cell.given.keys().filter(|name| parameters.contains_key(*name)).cloned().collect();
        let outputs = record.outputs.iter().map(|(name, output)| {
            let (format, digest) = (output.format.to_string(), output.digest.to_string());
            (name.clone(), OutputProvenance { format, digest, size: output.size })
        });
        let fetched = record.fetched.iter().map(|one| FetchProvenance {
            url: public::url(&one.fetch.url),
            sha256: one.sha256.clone(),
            bytes: one.bytes,
        });
        let code_now = cell.code().ok().flatten();
        CellProvenance {
            stage: cell.kind.clone(),
            key: record.key.to_string(),
            parameters,
            given,
            code,
            accepted: code_now.is_some_and(|now| now != record.components.code),
            inputs: self.inputs(cell, record),
            outputs: outputs.collect(),
            fetched: fetched.collect(),
            made: self.run(record, on),
        }
    }

    fn inputs(&self, cell: &Cell, record: &ActionRecord) -> BTreeMap<String, Vec<InputProvenance>> {
        let mut inputs = BTreeMap::new();
        for input in &cell.inputs {
            let sources = input.sources.iter().enumerate();
            let sources = sources.map(|(ordinal, source)| self.input(input, ordinal, source, record));
            inputs.insert(input.name.clone(), sources.collect());
        }
        for (name, group) in &record.components.inputs {
            // Dependencies that a command declares beside its inputs.
            inputs.entry(name.clone()).or_insert_with(|| {
                let dependency = |(name, digest): &(String, Digest)| {
                    let (file, digest) = (Some(name.clone()), Some(digest.to_string()));
                    InputProvenance { file, digest, ..InputProvenance::default() }
                };
                group.iter().map(dependency).collect()
            });
        }
        inputs
    }

    fn input(&self, input: &InputPlan, ordinal: usize, source: &Source, record: &ActionRecord) -> InputProvenance {
        match &source.from {
            Origin::Cell { index, port } => {
                let output = (self.record)(*index).and_then(|record| record.outputs.get(port));
                InputProvenance {
                    cell: Some(self.plan.cells[*index].label.to_string()),
                    output: Some(port.clone()),
                    digest: output.map(|output| output.digest.to_string()),
                    ..InputProvenance::default()
                }
            }
            Origin::File(path) => {
                let label = input.key_label(ordinal);
                let mut keyed = record.components.inputs.get(&input.name).into_iter().flatten();
                let digest = keyed.find(|(name, _)| *name == label).map(|(_, digest)| digest.to_string());
                let file = Some(public::file(path, self.disclosure));
                InputProvenance { file, digest, ..InputProvenance::default() }
            }
        }
    }

    fn run(&self, record: &ActionRecord, on: String) -> RunProvenance {
        let run = &record.circumstances;
        RunProvenance {
            at: run.started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            by: (self.disclosure == Disclosure::Full).then(|| run.user.clone()),
            taken: record.is_taken(),
            on,
            cores: run.machine.cores,
            device: run.computed_on.clone(),
            accelerators: run.devices.clone(),
            cwm: run.cwm_version.clone(),
            seconds: in_milliseconds(run.wall_seconds),
            cpu_seconds: in_milliseconds(run.user_seconds + run.system_seconds),
            peak_memory_bytes: run.peak_memory_bytes,
        }
    }
}

/// Sums over the cells of each stage, in the plan's order.
fn totals(plan: &Plan, upstream: &[(usize, &ActionRecord)]) -> Vec<StageTotals> {
    let records: BTreeMap<usize, &ActionRecord> = upstream.iter().copied().collect();
    let mut counted: BTreeSet<Key> = BTreeSet::new();
    let mut totals = Vec::new();
    for stage in &plan.stages {
        let mut sum = StageTotals { name: stage.name.clone(), kind: stage.kind.clone(), ..StageTotals::default() };
        for record in stage.cells.iter().filter_map(|index| records.get(index)) {
            sum.cells += 1;
            if counted.insert(record.key) {
                let run = &record.circumstances;
                sum.seconds += run.wall_seconds;
                sum.cpu_seconds += run.user_seconds + run.system_seconds;
                sum.peak_memory_bytes = sum.peak_memory_bytes.max(run.peak_memory_bytes);
                sum.bytes += record.outputs.values().map(|output| output.size).sum::<u64>();
            }
        }
        sum.seconds = in_milliseconds(sum.seconds);
        sum.cpu_seconds = in_milliseconds(sum.cpu_seconds);
        if sum.cells > 0 {
            totals.push(sum);
        }
    }
    totals
}

/// Rounds to milliseconds: more digits say nothing about a run.
fn in_milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
