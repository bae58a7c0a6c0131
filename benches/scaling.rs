//! Where one thread becomes the limit: `parse` with more and more cores, on files of every kind.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use cwm_contract::testing::Trial;
use cwm_parse::Parse;

/// How often the sample's text is in the files.
const TIMES: usize = 12;
/// Text of a frame, where there are several: what `pzstd` makes is of this order.
const FRAME: usize = 8 << 20;

/// Parses `file` on `cores` cores and prints seconds, CPU seconds and peak memory, for [`table`] to read.
pub fn parse_file(file: &Path, cores: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let start = Instant::now();
    let outcome = Trial::new(folder.path()).input("pgn", file).cores(cores).run(&Parse);
    let seconds = start.elapsed().as_secs_f64();
    let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}"));
    println!("{seconds} {} {} {}", crate::clock::used(libc::RUSAGE_SELF), most_memory(), outcome.metrics["games_kept"]);
}

/// Kilobytes that this process held at most; 0 where the system does not say. (What `getrusage` says begins with the
/// memory of the process that started this one.)
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or(0)
}

/// MB of text a second by kind of file and number of cores, with CPU seconds and peak memory for the most cores.
pub fn table(text: &[u8], folder: &Path) {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let cores: Vec<usize> = [1, 2, 4, 8, 12, 16, 24, 32].into_iter().filter(|&cores| cores <= most).collect();
    let header: String = cores.iter().map(|cores| format!("{cores:>7}")).collect();
    println!("parse, MB of text a second by cores{:>13}{header}   CPU s  MB held", "");
    for (name, bytes) in files(text) {
        let file = folder.join("games.pgn");
        fs::write(&file, &bytes).expect("room");
        let (mut line, mut last) = (String::new(), String::new());
        for &cores in &cores {
            let runs = (0..3).filter_map(|_| measure(&file, cores));
            let Some([seconds, cpu, held, _]) = runs.min_by(|a, b| a[0].total_cmp(&b[0])) else {
                println!("{name}: skipped, the program did not start");
                return;
            };
            let megabytes = (text.len() * times(name)) as f64 / 1e6;
            line += &format!("{:>7.0}", megabytes / seconds);
            last = format!("{cpu:>8.2}{:>9.0}", held / 1e3);
        }
        println!("  {name:<46}{line}{last}");
    }
}

fn times(name: &str) -> usize {
    // bzip2 takes ten times as long as the others.
    if ["gzip", "bzip2"].contains(&name) { 2 } else { TIMES }
}

fn measure(file: &Path, cores: usize) -> Option<[f64; 4]> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).arg("--parse").arg(file).arg(cores.to_string()).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    let numbers: Vec<f64> = printed.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}

/// The sample, several times, in each kind of file.
fn files(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let plain = text.repeat(TIMES);
    let zstd = |text: &[u8]| zstd::encode_all(text, 3).expect("memory");
    let frames = plain.chunks(FRAME).flat_map(zstd).collect();
    let [gzip, bzip2] = members(&plain[..text.len() * times("gzip")]);
    vec![("zstd, one frame", zstd(&plain)), ("zstd, frames of 8 MiB of text", frames), gzip, bzip2, ("plain", plain)]
}

/// A text as gzip and as bzip2 make it.
pub fn members(text: &[u8]) -> [(&'static str, Vec<u8>); 2] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).expect("memory");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    bzip2.write_all(text).expect("memory");
    [("gzip", gzip.finish().expect("memory")), ("bzip2", bzip2.finish().expect("memory"))]
}
