//! Taking a stage's probe: what a small run of its computation gives with the code of this binary
//! (`docs/design/accept.md`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use cwm_contract::{Cancellation, Failure, ProbeContext, Stage, Values};

use cwm_core::{Components, Digest, Key, list_some};
use cwm_store::ActionRecord;

/// Things that are named of those that differ.
const MAX_NAMES: usize = 6;

/// Takes probes with today's code, each of them once.
#[derive(Default)]
pub struct ProbeRunner {
    taken: BTreeMap<Key, Result<BTreeMap<String, Digest>, String>>,
}

impl ProbeRunner {
    /// Compares the probe of a stage with these parameters and this code, which is today's, with the one in `record`. Takes it if
    /// need be, which may last seconds. A command (`stage` is none) has no probe.
    ///
    /// # Errors
    /// They are not known to be the same: the reason, for people.
    pub fn compare(
        &mut self,
        stage: Option<&dyn Stage>,
        values: &Values,
        code: &BTreeMap<String, String>,
        record: &ActionRecord,
    ) -> Result<(), String> {
        let Some(stage) = stage.filter(|_| !record.probe.is_empty()) else {
            return Err("this result has no probe: it is not known if the change of code matters".to_owned());
        };
        // Inputs have no part in a probe.
        let apart = Components { code: code.clone(), inputs: BTreeMap::new(), ..record.components.clone() };
        let number = self.taken.len();
        let taken = self.taken.entry(apart.key()).or_insert_with(|| {
            let folder = std::env::temp_dir().join(format!("cwm-probe-{}-{number}", std::process::id()));
            take(stage, values, &folder, &Cancellation::default()).map_err(|failure| failure.message)
        });
        let unavailable = |why: &str| Err(format!("its probe cannot be run here: {why}"));
        match taken {
            Err(why) => unavailable(why),
            Ok(now) if now.is_empty() => unavailable("this cwm has no probe of that stage"),
            Ok(now) if *now == record.probe => Ok(()),
            Ok(now) => {
                let names: BTreeSet<&String> = record.probe.keys().chain(now.keys()).collect();
                let differs = |name: &&String| record.probe.get(*name) != now.get(*name);
                let different = list_some(names.into_iter().filter(differs), MAX_NAMES);
                Err(format!("its probe has another output with the current code: {different}"))
            }
        }
    }
}

/// The digest of each thing that the probe gives, by name; none where the stage has no probe. `folder` is made, and
/// removed at the end.
///
/// # Errors
/// The machine refused, a stop was requested, or the probe panicked.
pub fn take(
    stage: &dyn Stage,
    values: &Values,
    folder: &Path,
    cancellation: &Cancellation,
) -> Result<BTreeMap<String, Digest>, Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, error))?;
    // The canonical path, so that it can be removed from messages.
    let folder = &fs::canonicalize(folder).map_err(|error| Failure::io("find", folder, error))?;
    let context = ProbeContext::new(values, folder, cancellation.clone());
    let taken = catch_unwind(AssertUnwindSafe(|| stage.probe(&context)))
        .unwrap_or_else(|_| Err(Failure::internal("the probe panicked: this is a mistake in cwm")));
    fs::remove_dir_all(folder).map_err(|error| Failure::io("remove", folder, error))?;
    let taken = taken?.unwrap_or_default();
    Ok(taken.into_iter().map(|(name, bytes)| (name, Digest::of(&bytes))).collect())
}
