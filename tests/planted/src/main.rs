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
        // A planted copy is called so, and so are the sources as they are.
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
    let copy = env::temp_dir().join("cwm-planted/sources");
    let Tally { caught, harmless, wrong } = judge(&root, &copy, &chosen, &before)?;
    println!("caught {caught}, harmless and let be {harmless}, wrong {wrong}");
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The number of changes by outcome.
#[derive(Default)]
struct Tally {
    caught: u32,
    harmless: u32,
    wrong: u32,
}

/// Plants all chosen changes, round by round, and prints the outcome of each.
fn judge(root: &Path, copy: &Path, chosen: &[Change], before: &Probes) -> Result<Tally, Box<dyn Error>> {
    let mut tally = Tally::default();
    for (number, round) in rounds::of(chosen, before).into_iter().enumerate() {
        println!("round {}: {}", number + 1, round.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join("; "));
        copy_sources(root, copy)?;
        for change in &round {
            change.plant(copy)?;
        }
        let after = probes_of(copy)?;
        for (name, verdict) in rounds::judge(&round, before, &after) {
            let (count, words) = match verdict {
                Ok(words) if words == rounds::SAME => (&mut tally.harmless, words),
                Ok(words) => (&mut tally.caught, words),
                Err(words) => (&mut tally.wrong, format!("WRONG: {words}")),
            };
            *count += 1;
            println!("  {name}: {words}");
        }
    }
    Ok(tally)
}

/// Copies the sources that git lists to `copy`. Equal files are not touched, and new ones are as old as their
/// originals, so that little is built.
fn copy_sources(root: &Path, copy: &Path) -> Result<(), Box<dyn Error>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
    for name in String::from_utf8(listed.stdout)?.split_terminator('\0') {
        let (from, to) = (root.join(name), copy.join(name));
        let Ok(bytes) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(copy))?;
        let is_new = !to.exists();
        fs::write(&to, bytes)?;
        // One that takes back what was planted is new to cargo.
        if is_new {
            fs::File::options().write(true).open(&to)?.set_modified(fs::metadata(&from)?.modified()?)?;
        }
    }
    Ok(())
}

/// Builds the copy and takes its probes.
fn probes_of(copy: &Path) -> Result<Probes, Box<dyn Error>> {
    let cargo = env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let mut command = Command::new(cargo);
    // With the features that the whole program has, so that what was built of it is used.
    command.args(["build", "--release", "--quiet", "-p", "cwm", "-p", "cwm-planted", "--bin", "planted"]);
    // The folder that `tests/planted/run` makes.
    let target =
        env::current_dir()?.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into())).join("planted");
    let status = command.current_dir(copy).env("CARGO_TARGET_DIR", &target).status()?;
    let mut probes = Command::new(target.join("release/planted"));
    let output = probes.arg("--probes").current_dir(copy).stderr(std::process::Stdio::inherit()).output()?;
    if !status.success() || !output.status.success() {
        return Err(format!("the planted copy in {} does not build or run", copy.display()).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(digest, name)| (name.into(), digest.into()))
        .collect())
}
