//! What attempts at the same cell kept under other keys.

use std::io::Write;

use super::ActionFile;
use super::checkpoints::{list_kept, usable};
use cwm_core::Error;
use cwm_store::Store;

/// Says in the log of an action that starts anew where attempts at its cell with other parameters, inputs or code kept
/// something: nothing goes on from there, and who changed one of them may not expect that.
pub fn report(store: &Store, action: &ActionFile) {
    let words = found(store, action).unwrap_or_else(|error| {
        vec![format!("what attempts with other parameters, inputs or code kept cannot be told: {}", error.message)]
    });
    for line in words {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

/// A line for each such attempt. What cannot be read is another's, and no fault of this action.
///
/// # Errors
/// The store cannot be read.
fn found(store: &Store, action: &ActionFile) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    for work in store.work_folders()? {
        let key = *work.key();
        if key == action.key || work.is_check() {
            continue;
        }
        // One that is just being removed, or that another version wrote, says nothing of its cell.
        let (Ok(kept), Ok(other)) = (work.kept(), ActionFile::read(&work, &key)) else { continue };
        let kept = usable(kept);
        if !kept.is_empty() && (&other.pipeline, &other.label) == (&action.pipeline, &action.label) {
            let (kept, folder) = (list_kept(&kept), work.keep());
            lines.push(format!(
                "with other parameters, inputs or code {kept} was kept in {}: this starts anew, and nothing goes on from there",
                folder.display()
            ));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use cwm_contract::{Label, Resources, Value};

    use super::*;
    use crate::{ACTION_FILE_FORMAT, ActionBody};
    use cwm_core::{Components, KEY_FORMAT};

    fn action(n: i128) -> ActionFile {
        let components = Components {
            key_format: KEY_FORMAT,
            contract: 1,
            kind: "command".into(),
            code: BTreeMap::new(),
            parameters: BTreeMap::from([("n".into(), Value::Int(n))]),
            inputs: BTreeMap::new(),
        };
        ActionFile {
            format: ACTION_FILE_FORMAT,
            key: components.key(),
            label: Label::stage("train"),
            pipeline: "pipeline".into(),
            components,
            body: ActionBody::Command {
                run: String::new(),
                environment: BTreeMap::new(),
                inherited: Vec::new(),
                deps: BTreeMap::new(),
            },
            inputs: BTreeMap::new(),
            groups: Vec::new(),
            outputs: BTreeMap::new(),
            resources: Resources::default(),
            cause: Vec::new(),
            force: false,
            executable: Vec::new(),
            recorded: None,
        }
    }

    #[test]
    fn what_others_kept_is_told_and_what_cannot_be_read_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        let others: Vec<_> = (1..=4)
            .map(|n| {
                let other = action(n);
                let work = store.work(&other.key);
                work.prepare().unwrap();
                work.write_action(&other).unwrap();
                work.keep()
            })
            .collect();
        fs::write(others[0].join("step"), "").unwrap();
        // No folder, so nobody can list it.
        fs::remove_dir(&others[1]).unwrap();
        fs::write(&others[1], "").unwrap();
        fs::write(others[2].join("step.damaged"), "").unwrap();
        let lines = found(&store, &action(0)).unwrap();
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert!(line.contains(" step was kept in ") && line.contains(&others[0].display().to_string()), "{line}");
        assert!(found(&store, &action(1)).unwrap().is_empty(), "its own");
    }
}
