//! The order of the stages, and circles in it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::spec::Spec;
use cwm_core::{Diagnostic, Diagnostics, Place};

/// The stages that each stage depends on, and where that is written.
pub type Edges = Vec<BTreeMap<usize, Place>>;

/// All stages, each after what it rests on, otherwise in the order of the file. Stages that wait for each other in a
/// circle are reported; they come too, so that what else is wrong with them is told.
pub fn order(spec: &Spec, edges: &Edges, problems: &mut Diagnostics) -> Vec<usize> {
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
        while let Some(Reverse(stage)) = ready.pop() {
            if !std::mem::replace(&mut done[stage], true) {
                order.push(stage);
            }
            for &reader in &readers[stage] {
                waiting[reader] = waiting[reader].saturating_sub(1);
                if waiting[reader] == 0 && !done[reader] {
                    ready.push(Reverse(reader));
                }
            }
        }
        // What is left waits for a circle. Tell one, take it out, go on.
        while next_stuck < edges.len() && done[next_stuck] {
            next_stuck += 1;
        }
        if next_stuck == edges.len() {
            return order;
        }
        let circle = circle(next_stuck, edges, &done);
        report(spec, edges, &circle, problems);
        for stage in circle {
            done[stage] = true;
            order.push(stage);
            for &reader in &readers[stage] {
                waiting[reader] = waiting[reader].saturating_sub(1);
                if waiting[reader] == 0 && !done[reader] {
                    ready.push(Reverse(reader));
                }
            }
        }
    }
}

/// A circle below `start`; everything that is not done waits for one.
fn circle(start: usize, edges: &Edges, done: &[bool]) -> Vec<usize> {
    let mut path = Vec::new();
    let mut at: HashMap<usize, usize> = HashMap::new();
    let mut stage = start;
    loop {
        if let Some(&first) = at.get(&stage) {
            let mut circle = path[first..].to_vec();
            // Told from the stage that comes first in the file.
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

fn report(spec: &Spec, edges: &Edges, circle: &[usize], problems: &mut Diagnostics) {
    let name = |stage: usize| spec.stages[stage].name.text.as_str();
    let step = |index: usize| {
        let (stage, below) = (circle[index], circle[(index + 1) % circle.len()]);
        let place = edges[stage].get(&below).copied().unwrap_or(spec.stages[stage].name.place);
        (place, format!("`{}` reads `{}`", name(stage), name(below)))
    };
    let (place, first) = step(0);
    if circle.len() == 1 {
        problems.push(Diagnostic::at(place, format!("stage `{}` reads itself", name(circle[0]))));
        return;
    }
    let steps: Vec<_> = (0..circle.len()).map(step).collect();
    let messages = steps.iter().map(|(_, messages)| messages.as_str()).collect::<Vec<_>>().join(", ");
    let mut problem = Diagnostic::at(place, format!("stages wait for each other in a circle: {messages}")).label(first);
    for (place, messages) in steps.into_iter().skip(1) {
        problem = problem.related(place, messages);
    }
    problems.push(problem);
}
