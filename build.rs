//! Writes the code fingerprint of every stage to `$OUT_DIR/fingerprints.json`, for `src/fingerprint.rs`.
//!
//! One script for all stages: see `docs/design/fingerprint.md`.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs, process};

fn main() {
    at_a_fixed_address();
    if let Err(error) = write_fingerprints() {
        println!("cargo::error=no code fingerprints: {error}");
        process::exit(1);
    }
}

/// Links the program for a fixed address where that is known to work. One that may lie anywhere has its 300,000 addresses
/// of data written anew at each start, which takes longer than a run that finds nothing to do
/// (`docs/design/executor.md`).
fn at_a_fixed_address() {
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is("CARGO_CFG_TARGET_ARCH", "x86_64")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

fn write_fingerprints() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let features = env::var("CARGO_CFG_FEATURE").unwrap_or_default();
    let features: BTreeSet<String> = features.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let found = cwm_fingerprint::fingerprints(&root, &features)?;
    println!("cargo::rerun-if-changed=build.rs");
    for path in &found.watched_paths {
        println!("cargo::rerun-if-changed={path}");
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("fingerprints.json"), found.to_json())?;
    Ok(())
}
