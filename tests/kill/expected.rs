//! The results of an undisturbed run, which a disturbed one must reach.

use std::collections::BTreeMap;
use std::fs;

use crate::pipelines::Pipeline;
use crate::scene::{Scene, lock_lines};
use crate::store_truth::{self, Outputs};

/// The pipeline files: `p.yaml` changes its parameter between runs, `q.yaml` shares its store and some of its work.
pub const SEEDS: [(&str, u64); 6] = [("p", 1), ("p", 2), ("p", 3), ("p", 4), ("p", 5), ("q", 6)];

/// The results of one file with one parameter.
pub struct Expected {
    /// The file's name without extension.
    pub file: &'static str,
    /// Its text.
    pub text: String,
    /// The exit code of its run: 0, or 1 where a stage fails.
    pub code: i32,
    /// The lock file.
    pub lock: String,
    /// Every exported file.
    pub exports: BTreeMap<String, String>,
}

/// All of it, and every result by key.
pub struct Undisturbed {
    /// By the order of [`SEEDS`].
    pub files: Vec<Expected>,
    /// The one result of each key.
    pub results: BTreeMap<String, Outputs>,
    /// The duration of the first run.
    pub seconds: f64,
}

/// The file that says that recorded results may lack their content and be made again.
pub const MAY_RUN_AGAIN: &str = "may-run-again";

/// The file that stages read from outside.
pub const INPUT: &str = "one\ntwo\n";

impl Undisturbed {
    /// Runs all of it once, where nothing disturbs.
    pub fn of(pipeline: &Pipeline) -> Result<Self, String> {
        let scene = Scene::new();
        scene.write_old("input.txt", INPUT);
        let mut files = Vec::new();
        let mut seconds = 0.0;
        for (file, seed) in SEEDS {
            let text = pipeline.text(seed, &format!("exported-{file}"));
            fs::write(scene.path(&format!("{file}.yaml")), &text).map_err(|error| error.to_string())?;
            let began = std::time::Instant::now();
            let ended = scene.cwm(&["run", "--json", &format!("{file}.yaml")]);
            if files.is_empty() {
                seconds = began.elapsed().as_secs_f64();
            }
            if ended.code > 1 {
                return Err(format!("an undisturbed run: {}", ended.words()));
            }
            let lock = scene.read(&format!("{file}.lock"));
            let exports = exported(&scene, file);
            files.push(Expected { file, text, code: ended.code, lock, exports });
        }
        let recorded = store_truth::recorded(&scene.store(), false)?;
        let results = recorded.into_iter().map(|(key, mut results)| (key, results.remove(0))).collect();
        Ok(Undisturbed { files, results, seconds })
    }

    /// Returns an error unless the store holds the right content, and exports and lock files are whole: the ones from
    /// before or the new ones.
    pub fn check(&self, scene: &Scene) -> Result<(), String> {
        for (key, results) in store_truth::recorded(&scene.store(), scene.path(MAY_RUN_AGAIN).exists())? {
            let right = self.results.get(&key).ok_or_else(|| format!("nobody asked for the key {key}"))?;
            if let Some(wrong) = results.iter().find(|result| *result != right) {
                return Err(format!("{key} gave {wrong:?}, and {right:?} undisturbed"));
            }
        }
        for file in ["p", "q"] {
            let mine = || self.files.iter().filter(|expected| expected.file == file);
            let locks: Vec<_> = mine().map(|expected| lock_lines(&expected.lock)).collect::<Result<_, _>>()?;
            for (label, cell) in lock_lines(&scene.read(&format!("{file}.lock")))? {
                if !locks.iter().any(|lock| lock.get(&label) == Some(&cell)) {
                    return Err(format!("{file}.lock says of {label}: {cell}"));
                }
            }
            let now = exported(scene, file);
            for part in ["file/", "folder/"] {
                let of = |files: &BTreeMap<String, String>| -> BTreeMap<String, String> {
                    files
                        .iter()
                        .filter(|(name, _)| name.starts_with(part))
                        .map(|(a, b)| (a.clone(), b.clone()))
                        .collect()
                };
                let found = of(&now);
                if !found.is_empty() && !mine().any(|expected| of(&expected.exports) == found) {
                    return Err(format!("half an export in exported-{file}/{part}: {found:?}"));
                }
            }
        }
        Ok(())
    }
}

/// Returns the exported files, without cwm's own hidden ones.
fn exported(scene: &Scene, file: &str) -> BTreeMap<String, String> {
    let mut files = store_truth::tree(&scene.path(&format!("exported-{file}")));
    files.retain(|name, _| !name.split('/').any(|part| part.starts_with(".cwm-")));
    files
}
