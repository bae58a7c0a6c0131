//! The text of estimates.

use cwm_contract::amount::format_bytes;
use cwm_core::{duration, plural};
use cwm_engine::{Estimate, TotalEstimate};

/// Describes the estimates of cells that are shown together; `None` if no cell has one.
pub fn cost_of_cells(cells: &[Option<Estimate>]) -> Option<String> {
    let known: Vec<&Estimate> = cells.iter().flatten().collect();
    let first = known.first()?;
    if let [one] = cells {
        let (memory, disk) = (format_bytes(first.memory_bytes), format_bytes(first.disk_bytes));
        let runs = plural(first.runs, "earlier run", "earlier runs");
        let time = duration(first.seconds);
        return one.map(|_| format!("about {time}, {memory} of memory, {disk} of disk, by {runs} of its kind"));
    }
    let seconds = known.iter().map(|estimate| estimate.seconds).sum();
    let memory = known.iter().map(|estimate| estimate.memory_bytes).max().unwrap_or(0);
    let disk = known.iter().map(|estimate| estimate.disk_bytes).sum();
    let (time, memory, disk) = (duration(seconds), format_bytes(memory), format_bytes(disk));
    let text = format!("about {time} one after the other, up to {memory} of memory each, {disk} of disk");
    Some(match cells.len() - known.len() {
        0 => text,
        unknown => format!("time, memory and disk unknown for {unknown} of them; for the other {} {text}", known.len()),
    })
}

/// Describes the estimates of all cells. Those without one come first: they may be what takes longest.
pub fn total_cost(total: &TotalEstimate) -> String {
    let (time, disk, memory) = (total.seconds, total.disk_bytes, total.memory_bytes);
    let (time, disk, memory) = (duration(time), format_bytes(disk), format_bytes(memory));
    let known = format!("about {time} on this machine, {disk} of disk, up to {memory} of memory a cell");
    let why = "no earlier run of the kind, or an input whose size is not known yet";
    let unknown = plural(total.unknown as u64, "cell", "cells");
    let others = plural(total.estimated as u64, "other cell", "other cells");
    match (total.estimated, total.unknown) {
        (_, 0) => known,
        (0, _) => format!("time, memory and disk unknown for {unknown}: {why}"),
        _ => format!("time, memory and disk unknown for {unknown} ({why}); for {others} {known}"),
    }
}
