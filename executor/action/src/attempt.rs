//! One attempt at an action, under the lock of its key.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use cwm_contract::Event;

use super::inputs::Inputs;
use super::protocol::{ActionFailure, ActionFailureKind, ActionMessage};
use super::watchdog::Watchdog;
use super::work::{AttemptContext, do_work};
use super::{ActionBody, out_of_memory, usage};
use crate::probe;
use cwm_core::{Digest, Error};
use cwm_store::Difference;

impl AttemptContext<'_> {
    /// Does the work and records the result, whose digests are returned by output name. `has_checkpoint` is true if it resumes from
    /// a checkpoint of an earlier attempt.
    ///
    /// # Errors
    /// It failed; then nothing is recorded.
    pub fn make(&self, has_checkpoint: bool) -> Result<BTreeMap<String, Digest>, ActionFailure> {
        self.messages.send(&ActionMessage::Start);
        let timer = usage::ResourceUsageTimer::start(has_checkpoint);
        let (inputs, events) = self.work()?;
        let made = usage::collect_outputs(&self.work, &self.action, &inputs, events)?;
        let cost = timer.stop(&self.action);
        let probe = self.probe();
        // The log becomes content of the store, and this process has it open: from here on nothing may be added to it.
        self.messages.log_to(Path::new("/dev/null"))?;
        self.bring_log()?;
        let recorded = usage::record(&self.store, &self.work, &self.action, made, cost, probe);
        if recorded.is_err() {
            let _ = self.messages.log_to(&self.log);
        }
        recorded
    }

    /// Copies the log into the work folder, from where it is recorded.
    fn bring_log(&self) -> Result<(), ActionFailure> {
        let own = self.work.log();
        if self.log == own {
            return Ok(());
        }
        std::fs::copy(&self.log, &own).map_err(|error| Error::io("copy the log", &self.log, error))?;
        Ok(())
    }

    /// Takes the stage's probe. The work is done without it, so a failure goes to the log alone.
    fn probe(&self) -> BTreeMap<String, Digest> {
        let ActionBody::Stage { values, .. } = &self.action.body else { return BTreeMap::new() };
        let Some(stage) = self.registry.get(&self.action.components.kind) else { return BTreeMap::new() };
        if self.action.components.code.is_empty() {
            return BTreeMap::new();
        }
        probe::take(stage, values, &self.work.tmp().join("probe"), self.cancellation).unwrap_or_else(|failure| {
            let _ = writeln!(std::io::stderr(), "recorded without a probe: {failure}");
            BTreeMap::new()
        })
    }

    /// Does the work again and compares the result with the recorded one; nothing else is changed.
    ///
    /// # Errors
    /// It failed, or there is nothing to compare with.
    pub fn check(&self) -> Result<Vec<Difference>, ActionFailure> {
        self.messages.send(&ActionMessage::Start);
        let (inputs, events) = self.work()?;
        let made = usage::collect_outputs(&self.work, &self.action, &inputs, events)?;
        let mut differences = Vec::new();
        for (name, output) in &made.outputs {
            let recorded = self.action.recorded.as_ref().and_then(|recorded| recorded.get(name));
            let missing = || Error::store(format!("the recorded result has no output `{name}`"));
            differences.extend(self.store.differences(name, output, recorded.ok_or_else(missing)?)?);
        }
        Ok(differences)
    }

    /// Does the work. Returns its inputs, and the events for its record.
    fn work(&self) -> Result<(Inputs, Vec<Event>), ActionFailure> {
        let (store, files, action) = (&self.store, &self.files, &self.action);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let inputs = Inputs::find(store, files, action)?;
        let work = || catch_unwind(AssertUnwindSafe(|| do_work(self, &inputs, kept.clone())));
        let fault = match Watchdog::of(self).run(work) {
            // Work that finished within its grace period is finished.
            (Ok(Ok(())), _) => None,
            (_, Some(over)) => Some(over),
            (Ok(Err(fault)), None) => Some(fault),
            (Err(panic), None) => Some(panicked(panic.as_ref())),
        };
        if let Some(fault) = fault {
            // Others may read these inputs too. The failure to report is that of the work.
            if let Err(error) = inputs.quarantine_rewritten(store) {
                let _ = writeln!(std::io::stderr(), "{}", error.message);
            }
            return Err(fault);
        }
        inputs.verify_unchanged(store, action, &self.work.out())?;
        let events = std::mem::take(&mut *kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        Ok((inputs, events))
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> ActionFailure {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
    let (kind, hint) = match out_of_memory::find(&text) {
        Some(_) => (ActionFailureKind::OutOfMemory, out_of_memory::HINT),
        None => (ActionFailureKind::Panic, "this is a mistake in cwm; please report it with the log"),
    };
    ActionFailure::new(kind, format!("panicked: {text}")).hint(hint)
}
