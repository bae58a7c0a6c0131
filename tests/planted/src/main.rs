//! Plants changes into copies of the sources and compares probes with those of the sources as they are.

mod cases;
mod changes;
mod rounds;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use changes::Change;

/// Digests by `case/name`.
type Probes = BTreeMap<String, String>;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--probes") {
        // As a planted copy is asked, and as the sources as they are.
        cases::probes()?.iter().for_each(|(name, digest)| println!("{digest} {name}"));
        return Ok(ExitCode::SUCCESS);
    }
    let root = env::current_dir()?;
    let all = changes::read(&root.join("tests/planted/changes.yaml"))?;
    let chosen: Vec<Change> =
        all.into_iter().filter(|one| words.is_empty() || words.iter().any(|word| one.name.contains(word))).collect();
    let before = cases::probes()?;
    let cases: BTreeSet<&str> = before.keys().filter_map(|name| name.split('/').next()).collect();
    println!("{} probes of {} names in all", cases.len(), before.len());
    let copies = env::temp_dir().join("cwm-planted");
    let (mut wrong, mut caught, mut harmless) = (0, 0, 0);
    for (number, round) in rounds::of(&chosen, &before).into_iter().enumerate() {
        println!("round {}: {}", number + 1, round.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join("; "));
        let copy = copies.join("sources");
        copy_sources(&root, &copy)?;
        for change in &round {
            change.plant(&copy)?;
        }
        let after = probes_of(&copy)?;
        for (name, verdict) in rounds::judge(&round, &before, &after) {
            match verdict {
                Ok(words) => {
                    println!("  {name}: {words}");
                    if words == rounds::SAME { harmless += 1 } else { caught += 1 }
                }
                Err(words) => {
                    println!("  {name}: WRONG: {words}");
                    wrong += 1;
                }
            }
        }
    }
    println!("caught {caught}, harmless and let be {harmless}, wrong {wrong}");
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What git knows of the sources, at `copy`; files that are as they were are not touched, so that little is built.
fn copy_sources(root: &Path, copy: &Path) -> Result<(), Box<dyn Error>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
    for name in String::from_utf8(listed.stdout)?.split_terminator('\0') {
        let (from, to) = (root.join(name), copy.join(name));
        let Ok(bytes) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(copy))?;
        fs::write(to, bytes)?;
    }
    Ok(())
}

/// Builds the copy and takes its probes.
fn probes_of(copy: &Path) -> Result<Probes, Box<dyn Error>> {
    let cargo = env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let mut command = Command::new(cargo);
    command.args(["run", "--release", "--quiet", "-p", "cwm-planted", "--", "--probes"]).current_dir(copy);
    if env::var_os("CARGO_TARGET_DIR").is_none() {
        command.env("CARGO_TARGET_DIR", copy.with_file_name("target"));
    }
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("the planted copy in {} does not build or run", copy.display()).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(digest, name)| (name.into(), digest.into()))
        .collect())
}
