//! Orders stages, and finds circles.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use crate::spec::Spec;
use cwm_core::{Diagnostic, Place, Problems};

/// The stages that each stage depends on, with the place in the file.
pub type Edges = Vec<BTreeMap<usize, Place>>;

/// A relation between stages: the verb of a step, and the beginning of the message about a circle.
pub type Relation = (fn(&str) -> String, &'static str);

/// A stage reads another one.
pub const READS: Relation = (|other| format!("reads `{other}`"), "stages wait for each other in a circle");

/// A stage has a cell for each cell of another one.
pub const EACH: Relation = (|other| format!("has `each: {other}`"), "`each` goes round in a circle");

/// An order of stages.
pub struct Order {
    /// All stages, each after those that it depends on, otherwise in the order of the file.
    pub stages: Vec<usize>,
    /// Those that depend on each other in circles.
    pub in_circles: HashSet<usize>,
}

/// Orders all stages. Circles are reported; their stages have places in the order, so that other problems are found as well.
pub fn order(spec: &Spec, edges: &Edges, relation: Relation, problems: &Problems) -> Order {
    let mut in_circles = HashSet::new();
    let mut waiting: Vec<usize> = edges.iter().map(BTreeMap::len).collect();
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (stage, below) in edges.iter().enumerate() {
        below.keys().for_each(|&other| readers[other].push(stage));
    }
    let mut ready: BinaryHeap<_> = (0..edges.len()).filter(|&stage| waiting[stage] == 0).map(Reverse).collect();
    let mut done = vec![false; edges.len()];
    let mut order = Vec::with_capacity(edges.len());
    let mut next_stuck = 0;
    loop {
        let next = match ready.pop() {
            Some(Reverse(stage)) => vec![stage],
            None => {
                // The other stages wait for a circle: report one, and remove it.
                while next_stuck < edges.len() && done[next_stuck] {
                    next_stuck += 1;
                }
                if next_stuck == edges.len() {
                    return Order { stages: order, in_circles };
                }
                let circle = circle(next_stuck, edges, &done);
                report(spec, edges, &circle, relation, problems);
                in_circles.extend(&circle);
                circle
            }
        };
        next.iter().for_each(|&stage| done[stage] = true);
        for stage in next {
            order.push(stage);
            for &reader in &readers[stage] {
                waiting[reader] -= 1;
                if waiting[reader] == 0 && !done[reader] {
                    ready.push(Reverse(reader));
                }
            }
        }
    }
}

/// Returns a circle below `start`. Every stage that is not done waits for one.
fn circle(start: usize, edges: &Edges, done: &[bool]) -> Vec<usize> {
    let mut path = Vec::new();
    let mut at: HashMap<usize, usize> = HashMap::new();
    let mut stage = start;
    loop {
        if let Some(&first) = at.get(&stage) {
            let mut circle = path[first..].to_vec();
            // It begins with the first stage in the file.
            let earliest = circle.iter().enumerate().min_by_key(|(_, stage)| **stage).map_or(0, |(index, _)| index);
            circle.rotate_left(earliest);
            return circle;
        }
        at.insert(stage, path.len());
        path.push(stage);
        match edges[stage].keys().find(|&&other| !done[other]) {
            Some(&other) => stage = other,
            None => return path,
        }
    }
}

fn report(spec: &Spec, edges: &Edges, circle: &[usize], (verb, message): Relation, problems: &Problems) {
    let name = |stage: usize| spec.stages[stage].name.text.as_str();
    let step = |index: usize| {
        let (stage, below) = (circle[index], circle[(index + 1) % circle.len()]);
        let place = edges[stage].get(&below).copied().unwrap_or(spec.stages[stage].name.place);
        (place, format!("`{}` {}", name(stage), verb(name(below))))
    };
    let steps: Vec<_> = (0..circle.len()).map(step).collect();
    let messages = steps.iter().map(|(_, messages)| messages.as_str()).collect::<Vec<_>>().join(", ");
    let mut steps = steps.into_iter();
    let Some((place, first)) = steps.next() else { return };
    let mut problem = Diagnostic::at(place, format!("{message}: {messages}")).label(first);
    for (place, messages) in steps {
        problem = problem.related(place, messages);
    }
    problems.push(problem);
}
