//! From the plan and its records to what is told.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::Value;

use super::public::{self, parameter};
use super::{
    CellProvenance, Disclosure, FetchProvenance, InputProvenance, MachineProvenance, Made, OutputProvenance,
    PROVENANCE_FORMAT, Provenance, StageTotals,
};
use cwm_core::{Digest, Key};
use cwm_pipeline::plan::{Cell, InputPlan, Origin, Plan, Source};
use cwm_store::{ActionRecord, Machine};

/// What the output `port` of `cell` rests on. `record` gives the record of a cell; a cell whose result was lost since
/// has none, and is left out.
pub fn gather<'r>(
    plan: &Plan,
    cell: usize,
    port: &str,
    telling: Disclosure,
    record: impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Provenance {
    let mut upstream = plan.ancestors(&[cell]);
    upstream.retain(|index| record(*index).is_some());
    let mut told = Provenance {
        format: PROVENANCE_FORMAT,
        cwm: env!("CARGO_PKG_VERSION"),
        pipeline: plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        report: format!("{}.{port}", plan.cells[cell].label),
        stages: totals(plan, &upstream, &record),
        machines: Vec::new(),
        code: BTreeMap::new(),
        cells: BTreeMap::new(),
    };
    let mut sorted: Vec<(String, usize)> =
        upstream.into_iter().map(|index| (plan.cells[index].label.to_string(), index)).collect();
    sorted.sort();
    let mut machines: Vec<&Machine> = Vec::new();
    for (label, index) in sorted {
        let Some(made) = record(index) else { continue };
        let machine = &made.circumstances.machine;
        // A stage is often given fewer cores than there are.
        let is_it = |known: &&Machine| (&known.host, &known.os) == (&machine.host, &machine.os);
        let number = machines.iter().position(is_it).unwrap_or_else(|| {
            told.machines.push(MachineProvenance {
                name: name_of(machine, told.machines.len(), telling),
                os: machine.os.clone(),
                cores: 0,
            });
            machines.push(machine);
            machines.len() - 1
        });
        told.machines[number].cores = told.machines[number].cores.max(machine.cores);
        let code = fingerprint(&made.components.code);
        if let Some(code) = &code {
            told.code.entry(code.clone()).or_insert_with(|| made.components.code.clone());
        }
        let on = told.machines[number].name.clone();
        told.cells.insert(label, cell_told(plan, &plan.cells[index], made, on, code, telling, &record));
    }
    told
}

fn name_of(machine: &Machine, number: usize, telling: Disclosure) -> String {
    match telling {
        Disclosure::Full => machine.host.clone(),
        Disclosure::Public => format!("machine {}", number + 1),
    }
}

/// One name for all parts of the code together.
fn fingerprint(code: &BTreeMap<String, String>) -> Option<String> {
    let text: String = code.iter().map(|(part, digest)| format!("{part} {digest}\n")).collect();
    (!code.is_empty()).then(|| Digest::of(text.as_bytes()).short())
}

fn cell_told<'r>(
    plan: &Plan,
    cell: &Cell,
    record: &ActionRecord,
    on: String,
    code: Option<String>,
    telling: Disclosure,
    of: &impl Fn(usize) -> Option<&'r ActionRecord>,
) -> CellProvenance {
    let kind = &record.components.kind;
    let told = |(name, value): (&String, &Value)| (name.clone(), parameter(kind, name, value, telling));
    let parameters: BTreeMap<String, Value> = record.components.parameters.iter().map(told).collect();
    let given = cell.given.keys().filter(|name| parameters.contains_key(*name)).cloned().collect();
    let inputs = cell.inputs.iter().map(|input| {
        let sources = input.sources.iter().enumerate();
        let sources = sources.map(|(ordinal, source)| input_told(plan, input, ordinal, source, record, telling, of));
        (input.name.clone(), sources.collect())
    });
    let mut inputs: BTreeMap<String, Vec<InputProvenance>> = inputs.collect();
    for (name, group) in &record.components.inputs {
        // What a command declares beside its inputs.
        inputs.entry(name.clone()).or_insert_with(|| {
            let dependency = |(name, digest): &(String, Digest)| InputProvenance {
                cell: None,
                output: None,
                file: Some(name.clone()),
                digest: Some(*digest),
            };
            group.iter().map(dependency).collect()
        });
    }
    let outputs = record.outputs.iter().map(|(name, output)| {
        let told = OutputProvenance { format: output.format.to_string(), digest: output.digest, size: output.size };
        (name.clone(), told)
    });
    let fetched = record.fetched.iter().map(|one| FetchProvenance {
        url: public::url(&one.fetch.url),
        sha256: one.sha256.clone(),
        bytes: one.bytes,
    });
    let code_now = cell.code().ok().flatten();
    CellProvenance {
        stage: cell.kind.clone(),
        key: record.key,
        parameters,
        given,
        code,
        accepted: code_now.is_some_and(|now| now != record.components.code),
        inputs,
        outputs: outputs.collect(),
        fetched: fetched.collect(),
        made: made(record, on, telling),
    }
}

fn input_told<'r>(
    plan: &Plan,
    input: &InputPlan,
    ordinal: usize,
    source: &Source,
    record: &ActionRecord,
    telling: Disclosure,
    of: &impl Fn(usize) -> Option<&'r ActionRecord>,
) -> InputProvenance {
    match &source.from {
        Origin::Cell { index, port } => InputProvenance {
            cell: Some(plan.cells[*index].label.to_string()),
            output: Some(port.clone()),
            file: None,
            digest: of(*index).and_then(|record| Some(record.outputs.get(port)?.digest)),
        },
        Origin::File(path) => {
            let label = input.key_label(ordinal);
            let keyed = record.components.inputs.get(&input.name);
            let digest = keyed.and_then(|group| group.iter().find(|(name, _)| *name == label));
            InputProvenance {
                cell: None,
                output: None,
                file: Some(public::file(path, telling)),
                digest: digest.map(|(_, digest)| *digest),
            }
        }
    }
}

fn made(record: &ActionRecord, on: String, telling: Disclosure) -> Made {
    let circumstances = &record.circumstances;
    Made {
        at: circumstances.started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        by: (telling == Disclosure::Full).then(|| circumstances.user.clone()),
        taken: record.is_taken(),
        on,
        cores: circumstances.machine.cores,
        device: circumstances.computed_on.clone(),
        accelerators: circumstances.devices.clone(),
        cwm: circumstances.cwm_version.clone(),
        seconds: in_milliseconds(circumstances.wall_seconds),
        cpu_seconds: in_milliseconds(circumstances.user_seconds + circumstances.system_seconds),
        peak_memory_bytes: circumstances.peak_memory_bytes,
    }
}

/// Stages in the plan's order.
fn totals<'r>(
    plan: &Plan,
    upstream: &[usize],
    record: &impl Fn(usize) -> Option<&'r ActionRecord>,
) -> Vec<StageTotals> {
    let upstream: BTreeSet<usize> = upstream.iter().copied().collect();
    let mut counted: BTreeSet<Key> = BTreeSet::new();
    let mut totals = Vec::new();
    for stage in &plan.stages {
        let mut sum = StageTotals { name: stage.name.clone(), kind: stage.kind.clone(), ..StageTotals::default() };
        for index in stage.cells.iter().filter(|index| upstream.contains(index)) {
            sum.cells += 1;
            let Some(record) = record(*index).filter(|record| counted.insert(record.key)) else { continue };
            let made = &record.circumstances;
            sum.seconds += made.wall_seconds;
            sum.cpu_seconds += made.user_seconds + made.system_seconds;
            sum.peak_memory_bytes = sum.peak_memory_bytes.max(made.peak_memory_bytes);
            sum.bytes += record.outputs.values().map(|output| output.size).sum::<u64>();
        }
        sum.seconds = in_milliseconds(sum.seconds);
        sum.cpu_seconds = in_milliseconds(sum.cpu_seconds);
        if sum.cells > 0 {
            totals.push(sum);
        }
    }
    totals
}

/// More digits say nothing about a run.
fn in_milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
