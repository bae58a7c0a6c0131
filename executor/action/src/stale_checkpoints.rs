//! Reports checkpoints of the same cell under other keys.

use std::io::Write;

use super::ActionFile;
use super::checkpoints::{list_kept, usable};
use cwm_core::Error;
use cwm_store::Store;

/// Writes into the log of an action without checkpoints which checkpoints its cell has with other parameters, inputs or code: the
/// action does not resume from them, which people may not expect after a change.
pub fn report(store: &Store, action: &ActionFile) {
    let lines = found(store, action)
        .unwrap_or_else(|error| vec![format!("checkpoints of earlier attempts cannot be listed: {}", error.message)]);
    lines.iter().for_each(|line| drop(writeln!(std::io::stderr(), "{line}")));
}

/// Returns a line for each such work folder. Those that cannot be read are skipped.
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
        // It may be in removal, or of another version.
        let (Ok(names), Ok(other)) = (work.checkpoints(), ActionFile::read(&work, &key)) else { continue };
        let names = usable(names);
        if !names.is_empty() && (&other.pipeline, &other.label) == (&action.pipeline, &action.label) {
            let (names, folder) = (list_kept(&names), work.keep());
            lines.push(format!(
                "with other parameters, inputs or code {names} was kept in {}: this starts anew, and does not resume from there",
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
                work.prepare(1).unwrap();
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
