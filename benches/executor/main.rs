//! What the executor itself costs, beside other programs in one run: `cargo bench --bench executor`.
//!
//! ninja, snakemake, dvc and b3sum are looked for in PATH and in the folders of CWM_BENCH_PATH; what is not there is
//! skipped, in words. Seconds of whole processes from start to end; in brackets the commands executed. Machines are noisy:
//! compare columns of one run, not runs. `cargo bench --bench executor -- graphs` runs one part (graphs, stages, cells,
//! storing); CWM_BENCH_CWM names another `cwm`, such as one with all stages.

mod cells;
mod graph;
mod graphs;
mod program;
mod stages;
mod storing;

use program::Program;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.iter().any(|word| word == "--list") {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("cwm {} on {cores} cores", Program::cwm().version);
    let parts: [(&str, fn()); 4] = [
        ("graphs", graphs::run),
        ("stages", stages::run_all),
        ("cells", cells::run_all),
        ("storing", storing::run_all),
    ];
    for (name, part) in parts {
        if words.is_empty() || words.iter().any(|word| word == name) {
            println!();
            part();
        }
    }
}
