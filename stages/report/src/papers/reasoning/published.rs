//! Recognizes the tasks whose items are the published ones.

use std::collections::BTreeMap;

use cwm_questions::Item;
use sha2::{Digest, Sha256};

/// SHA-256 of the published items of each task: a line for each, sorted, with its FEN, a tab, and the moves of its key, sorted.
const PUBLISHED: [(&str, &str); 4] = [
    ("reasoning_predict_move", "0333dd7e0abe4ba02f67373c88dc5141626107d55e6fe267308067202b8ac318"),
    ("reasoning_best_move", "945188e623f09eae8d91a138e2a98524283733cb4a26de91b5eb2ae85e08ff62"),
    ("reasoning_worst_move", "c460d3ad45b88421bc003dd44c579467e00b9707f9858f03ab8a1e0936a9d179"),
    ("reasoning_legal_moves", "bf8ca30a051a7bd90799f0e177e29b9f897d063dda070c335cfb3cd56d320c6d"),
];

/// The tasks whose items, all together, are the published ones.
pub(super) fn published<'i>(items: impl Iterator<Item = &'i Item>) -> Vec<&'static str> {
    let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for item in items {
        let mut moves: Vec<&str> = item.correct_answer.split(", ").collect();
        moves.sort_unstable();
        let line = format!("{}\t{}\n", item.input, moves.join(" "));
        lines.entry(&item.task_type).or_default().push(line);
    }
    let if_published = |(task, digest): (&'static str, &str)| {
        let mut of_task = lines.remove(task)?;
        of_task.sort_unstable();
        let found = Sha256::digest(of_task.concat());
        (found.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == digest).then_some(task)
    };
    PUBLISHED.into_iter().filter_map(if_published).collect()
}
