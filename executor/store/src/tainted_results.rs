//! Results whose stages read content that is damaged now.

use std::collections::{BTreeMap, BTreeSet};

use super::Store;
use super::damage::Finding;
use super::record::OutputShape;
use cwm_core::Digest;
use cwm_core::files::Result;

/// Damaged objects with the time of the damage, in nanoseconds since 1970; nothing where that is not known, as on a failing disk.
pub(super) type DamageTimes = BTreeMap<Digest, Option<i64>>;

impl Store {
    /// Finds every result that may depend on damaged content: its stage ran after the damage was done, or the time of one of the two
    /// is unknown. Since no stage reads an object without its seal, that is mostly the work of a failing disk.
    pub(super) fn tainted_results(&self, damaged: &DamageTimes) -> Result<Vec<Finding>> {
        let mut found = Vec::new();
        if damaged.is_empty() {
            return Ok(found);
        }
        let mut records = Vec::new();
        for key in self.keys()? {
            // Damaged records were reported.
            records.extend(self.record_files(&key)?.into_iter().filter_map(|file| {
                let record = file.read(&key).ok()?;
                Some((file.path, record))
            }));
        }
        let outputs = records.iter().flat_map(|(_, record)| record.outputs.values());
        let folders = outputs.filter(|output| output.shape == OutputShape::Folder).map(|output| output.digest);
        let mut inside: BTreeMap<Digest, Vec<Digest>> = BTreeMap::new();
        for folder in folders.collect::<BTreeSet<Digest>>() {
            let Ok(manifest) = self.manifest(&folder) else { continue };
            let bad = manifest.files().values().map(|file| file.digest).filter(|digest| damaged.contains_key(digest));
            inside.insert(folder, bad.collect());
        }
        for (path, record) in records {
            let circumstances = &record.circumstances;
            let took = (circumstances.wall_seconds * 1e9) as i128;
            let ended = circumstances.started.as_nanosecond().saturating_add(took);
            let read: BTreeSet<&Digest> = record
                .input_digests()
                .flat_map(|input| std::iter::once(input).chain(inside.get(input).into_iter().flatten()))
                .collect();
            for digest in read {
                let Some(since) = damaged.get(digest) else { continue };
                if since.is_none_or(|since| i128::from(since) <= ended) {
                    let label = &record.label;
                    let what = format!(
                        "read {digest}, which is damaged now: if it was so then, this result of `{label}` is wrong; when a run \
                         has made that again, `cwm run --check` compares, and `cwm run --force` makes this again"
                    );
                    found.push(Finding::about(path.clone(), what));
                }
            }
        }
        Ok(found)
    }
}
