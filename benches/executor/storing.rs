//! Storing what a stage made: a file of 1 GiB, beside hashing it with b3sum.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use super::program::{cwm, find, processor_seconds, run};

/// Bytes of the file.
const SIZE: u64 = 1 << 30;

/// Prints the seconds of processor that storing and hashing take, and what lies on the disk.
pub fn run_all() {
    println!("a stage's output of 1 GiB, which its command moves into place: seconds of processor, on one core");
    let Some(b3sum) = find("b3sum", "cargo install b3sum") else { return };
    let (mut hash, mut whole, mut small) = (Vec::new(), Vec::new(), Vec::new());
    let mut on_disk = 0;
    for _ in 0..3 {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let made = folder.join("made");
        let run_cwm =
            || processor_seconds(|| run(Command::new(cwm()).args(["run", "--jobs", "1"]).current_dir(folder)));
        for (attempt, size) in [SIZE, 0].into_iter().enumerate() {
            make(&made, size);
            if size > 0 {
                let once = || run(Command::new(&b3sum).args(["--num-threads", "1"]).arg(&made));
                hash.push(processor_seconds(once));
            }
            let command = format!("mv {} \"$out\"", made.display());
            let text = format!(
                "cwm: 1\nstages:\n  s: {{ stage: command, with: {{ run: '{command}', attempt: {attempt} }} }}\n"
            );
            fs::write(folder.join("pipeline.yaml"), text).expect("a pipeline");
            if size > 0 { &mut whole } else { &mut small }.push(run_cwm());
        }
        on_disk = blocks(&folder.join("artifacts"));
    }
    let middle = |times: &[f64]| {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (hash, whole, small) = (middle(&hash), middle(&whole), middle(&small));
    let stored = whole - small;
    println!(
        "cwm {stored:.3} s (beyond {small:.3} for a stage of an empty file); b3sum {hash:.3} s; ratio {:.2}",
        stored / hash
    );
    println!("on the disk: {:.3} GiB", on_disk as f64 * 512.0 / SIZE as f64);
}

/// A file that does not compress and has no equal pieces.
fn make(path: &Path, size: u64) {
    let mut file = fs::File::create(path).expect("a file");
    let mut stream = blake3::Hasher::new().finalize_xof();
    let mut piece = vec![0; 1 << 20];
    for _ in 0..size >> 20 {
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
