//! Kills, failing system calls, full disks and lost power, through the binary (docs/design/killing.md).
//!
//! Small by default; the environment asks for more: CWM_KILLS, CWM_KILL_SEED, CWM_KILL_FIRST, CWM_KILL_FACTOR, CWM_KILL_STEP,
//! CWM_KILL_CUTS, CWM_KILL_STATES, CWM_KILL_BINARY, CWM_STAGE_KILLS.

mod calls;
mod damage;
mod dice;
mod expected;
mod full_disk;
mod instant;
mod kills;
mod pipelines;
mod power;
mod processes;
mod scene;
#[cfg(all(feature = "play", feature = "parse", feature = "analyse", feature = "match"))]
mod stages;
mod states;
mod store_truth;

/// Returns true if these programs are on PATH; prints the name of one that is not.
fn tools(names: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = names.iter().find(|name| !std::env::split_paths(&path).any(|folder| folder.join(name).is_file()));
    if let Some(name) = missing {
        println!("skipped: no `{name}` on PATH (Debian: apt-get install util-linux strace e2fsprogs xfsprogs)");
    }
    missing.is_none()
}
