//! `cwm store du`: prints the size of each stage in the store.

use std::path::Path;

use cwm_contract::amount;
use serde_json::json;

use crate::cli::DuArguments;
use crate::locate::open_existing_store;
use crate::output::{columns, print_result};
use crate::workspace::SkippedRecordsWarning;
use cwm_core::{Error, plural};
use cwm_gc::{StageUsage, Usage};

/// The version of the JSON output.
const FORMAT: u32 = 1;

/// Runs `cwm store du`.
///
/// # Errors
/// The store cannot be read, something in it is damaged, or it has nothing of a stage that is named.
pub fn run(store: Option<&Path>, arguments: &DuArguments) -> Result<(), Error> {
    let (store, _warning) = SkippedRecordsWarning::watch(open_existing_store(store, arguments.file.as_deref())?);
    let mut usage = Usage::of(&store)?;
    for name in &arguments.stages {
        if !usage.stages.iter().any(|stage| stage.stage == *name) {
            return Err(Error::usage(format!("the store has nothing of a stage `{name}`"))
                .hint("`cwm store du` lists all that it has"));
        }
    }
    usage.stages.retain(|stage| arguments.stages.is_empty() || arguments.stages.contains(&stage.stage));
    let answer = json!({ "format": FORMAT, "bytes": usage.bytes(), "usage": usage });
    print_result(&answer, || text(&usage, arguments.stages.is_empty()))
}

fn text(usage: &Usage, with_total: bool) -> String {
    let right = |text: &str| format!("{text:>11}");
    let size = |bytes: u64| if bytes == 0 { right("-") } else { right(&amount::format_bytes(bytes)) };
    let row = |stage: &StageUsage| {
        let sizes = [stage.own_bytes, stage.shared_bytes, stage.checkpoint_bytes, stage.work_bytes].map(size);
        let [own, shared, checkpoints, work] = sizes;
        [stage.stage.clone(), own, shared, checkpoints, work, format!("{:>7}", stage.results)]
    };
    let [own, shared, checkpoints, work] = ["own", "shared", "checkpoints", "work"].map(right);
    let head = ["stage".to_owned(), own, shared, checkpoints, work, "results".to_owned()];
    let mut text = columns([head].into_iter().chain(usage.stages.iter().map(row)));
    if with_total {
        let parts = [
            (usage.unnamed_bytes, "content that no record names"),
            (usage.external_bytes, "external"),
            (usage.record_bytes, "records"),
            (usage.other_bytes, "temporary, in quarantine or garbage"),
        ];
        let parts = parts.iter().filter(|(bytes, _)| *bytes > 0);
        let parts: Vec<String> =
            parts.map(|(bytes, what)| format!("{} {what}", amount::format_bytes(*bytes))).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        let objects = plural(usage.objects, "object", "objects");
        let all = amount::format_bytes(usage.bytes());
        text += &format!("{all} in all, what stages share counted once; {objects}{parts}");
    }
    text
}
