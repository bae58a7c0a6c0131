//! Writes the code fingerprint of every stage to `$OUT_DIR/fingerprints.json`, for `src/fingerprint.rs`.
//!
//! One script for all stages: see `docs/design/fingerprint.md`.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs, process};

fn main() {
    if let Err(error) = write_fingerprints() {
        println!("cargo::error=no code fingerprints: {error}");
        process::exit(1);
    }
}

fn write_fingerprints() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let features = env::var("CARGO_CFG_FEATURE").unwrap_or_default();
    let features: BTreeSet<String> = features.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let found = cwm_fingerprint::fingerprints(&root, &features)?;
    println!("cargo::rerun-if-changed=build.rs");
    for path in &found.watched {
        println!("cargo::rerun-if-changed={path}");
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("fingerprints.json"), found.to_json())?;
    Ok(())
}
