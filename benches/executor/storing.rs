//! Storing what a stage made: a file of 1 GiB, beside hashing it with b3sum.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use super::program::{find, processor_seconds, run};

/// Bytes of the file.
const SIZE: u64 = 1 << 30;

/// Prints the seconds of processor that storing and hashing take, and what lies on the disk.
pub fn run_all() {
    println!("a stage's output of 1 GiB: seconds of processor beyond those of its command (`cp`), on one core");
    let Some(b3sum) = find("b3sum", "cargo install b3sum") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    make(&folder.join("source"));
    let copy = format!("cp {0}/source", folder.display());
    let (mut cp, mut hash, mut cwm) = (Vec::new(), Vec::new(), Vec::new());
    for attempt in 0..5 {
        let shell = |text: &str| processor_seconds(|| run(Command::new("sh").args(["-euc", text]).current_dir(folder)));
        cp.push(shell(&format!("{copy} {}/copy", folder.display())));
        hash.push(processor_seconds(|| {
            run(Command::new(&b3sum).args(["--num-threads", "1", "copy"]).current_dir(folder));
        }));
        let text = format!(
            "cwm: 1\nstages:\n  big: {{ stage: command, with: {{ run: '{copy} \"$out\"', attempt: {attempt} }} }}\n"
        );
        fs::write(folder.join("pipeline.yaml"), text).expect("a pipeline");
        // The same bytes again would be dropped, not stored.
        drop(fs::remove_dir_all(folder.join("artifacts")));
        cwm.push(processor_seconds(|| {
            run(Command::new(env!("CARGO_BIN_EXE_cwm")).args(["run", "--jobs", "1"]).current_dir(folder));
        }));
    }
    let middle = |times: &[f64]| {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (cp, hash, cwm) = (middle(&cp), middle(&hash), middle(&cwm));
    let stored = cwm - cp;
    println!("cwm {stored:.3} s (run {cwm:.3}, cp alone {cp:.3}); b3sum {hash:.3} s; ratio {:.2}", stored / hash);
    println!("on the disk: {:.3} GiB", blocks(&folder.join("artifacts")) as f64 * 512.0 / SIZE as f64);
}

/// A file that does not compress and has no equal pieces.
fn make(path: &Path) {
    let mut file = fs::File::create(path).expect("a file");
    let mut stream = blake3::Hasher::new().finalize_xof();
    let mut piece = vec![0; 1 << 20];
    for _ in 0..SIZE >> 20 {
        stream.fill(&mut piece);
        file.write_all(&piece).expect("room for 1 GiB");
    }
}

/// Blocks of 512 bytes that all files of a folder take.
fn blocks(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let of = |path: &Path| {
        let metadata = fs::symlink_metadata(path).expect("a file");
        if metadata.is_dir() { blocks(path) } else { metadata.blocks() }
    };
    entries.map(|path| of(&path)).sum()
}
