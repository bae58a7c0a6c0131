//! Orders stages, and finds circles.

use std::collections::{BTreeMap, HashSet};

use crate::spec::Spec;
use cwm_core::{Diagnostic, Place, Problems};

/// The stages that each stage depends on, with the place in the file.
pub type Edges = Vec<BTreeMap<usize, Place>>;

/// A relation between stages: the verb of a step, and the beginning and the hint of the message about a cycle.
pub type Relation = (fn(&str) -> String, &'static str, &'static str);

/// A stage reads another one.
pub const READS: Relation =
    (|other| format!("reads `{other}`"), "stages depend on each other in a cycle", "remove one of these inputs");

/// A stage has a cell for each cell of another one.
pub const EACH: Relation = (
    |other| format!("has `each: {other}`"),
    "stages have each other's cells in a cycle",
    "remove one `each`, and give that stage a `matrix`",
);

/// An order of stages.
pub struct Order {
    /// All stages, each after those that it depends on, otherwise in the order of the file.
    pub stages: Vec<usize>,
    /// The stages that depend on each other in circles.
    pub in_cycles: HashSet<usize>,
}

/// Orders all stages. Circles are reported; their stages have places in the order, so that other problems are found as well.
pub fn order(spec: &Spec, edges: &Edges, relation: Relation, problems: &Problems) -> Order {
    let mut order = Order { stages: Vec::with_capacity(edges.len()), in_cycles: HashSet::new() };
    let mut done = vec![false; edges.len()];
    while let Some(first) = done.iter().position(|done| !done) {
        let is_ready = |stage: &usize| !done[*stage] && edges[*stage].keys().all(|other| done[*other]);
        let next = match (first..edges.len()).find(is_ready) {
            Some(stage) => vec![stage],
            // All that are left wait for a circle: report one, and remove it.
            None => {
                let cycle = cycle(first, edges, &done);
                report(spec, edges, &cycle, relation, problems);
                order.in_cycles.extend(&cycle);
                cycle
            }
        };
        next.iter().for_each(|&stage| done[stage] = true);
        order.stages.extend(next);
    }
    order
}

/// Returns a circle below `start`. Every stage that is not done waits for one.
fn cycle(start: usize, edges: &Edges, done: &[bool]) -> Vec<usize> {
    let mut path = vec![start];
    let mut stage = start;
    while let Some(&below) = edges[stage].keys().find(|&&other| !done[other]) {
        if let Some(first) = path.iter().position(|&stage| stage == below) {
            let mut cycle = path.split_off(first);
            // It begins with the first stage in the file.
            let earliest = (0..cycle.len()).min_by_key(|&index| cycle[index]).unwrap_or_default();
            cycle.rotate_left(earliest);
            return cycle;
        }
        path.push(below);
        stage = below;
    }
    path
}

fn report(spec: &Spec, edges: &Edges, cycle: &[usize], (verb, message, hint): Relation, problems: &Problems) {
    let name = |stage: usize| spec.stages[stage].name.text.as_str();
    let step = |index: usize| {
        let (stage, below) = (cycle[index], cycle[(index + 1) % cycle.len()]);
        let place = edges[stage].get(&below).copied().unwrap_or(spec.stages[stage].name.place);
        (place, format!("`{}` {}", name(stage), verb(name(below))))
    };
    let steps: Vec<_> = (0..cycle.len()).map(step).collect();
    let messages = steps.iter().map(|(_, messages)| messages.as_str()).collect::<Vec<_>>().join(", ");
    let mut steps = steps.into_iter();
    let Some((place, first)) = steps.next() else { return };
    let problem = Diagnostic::at(place, format!("{message}: {messages}")).label(first).hint(hint);
    problems.push(steps.fold(problem, |problem, (place, step)| problem.related(place, step)));
}
