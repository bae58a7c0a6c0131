//! One graph in four programs: what is done when nothing, a parameter or a script changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::graph::Graph;
use super::program::{Program, median};

/// A program with its folder.
struct Runner {
    program: Program,
    folder: PathBuf,
}

impl Runner {
    fn run(&self, graph: Graph) -> (Duration, usize) {
        graph.write(&self.folder);
        self.program.run(&self.folder)
    }

    /// Nothing changed: the median of several, as many as there is time for.
    fn idle(&self, graph: Graph) -> (Duration, usize) {
        let repeats = match (self.program.is_quick, graph.stages) {
            (true, _) => 15,
            (false, ..100) => 3,
            (false, _) => 1,
        };
        let mut executed = 0;
        let time = median(repeats, || {
            let (time, more) = self.run(graph);
            executed += more;
            time
        });
        (time, executed)
    }
}

/// Runs all sizes and prints the table.
pub fn run() {
    let peers = Program::peers();
    let versions: Vec<String> = peers.iter().map(|program| format!("{} {}", program.name, program.version)).collect();
    println!(
        "graphs of shell commands: input -> chain with parameters in the middle -> fan -> join; {}",
        versions.join(", ")
    );
    for size in [10, 60, 300] {
        let folder = tempfile::tempdir().expect("a folder");
        let programs = [Program::cwm()].into_iter().chain(peers.clone());
        let runners: Vec<Runner> = programs.map(|program| runner(program, folder.path())).collect();
        let titles: String = runners.iter().map(|runner| format!("{:>16}", runner.program.name)).collect();
        println!("{size:>4} stages {:<31}{titles}   cwm / ninja   dvc / cwm", "");
        steps(size, &runners);
    }
}

fn runner(program: Program, folder: &Path) -> Runner {
    let folder = folder.join(program.name);
    program.prepare(&folder);
    Runner { program, folder }
}

fn steps(size: usize, runners: &[Runner]) {
    let first = Graph::new(size);
    row("everything, once", runners, |runner| runner.run(first));
    // Digests of files from outside, and records, are remembered once they are 2 s old.
    std::thread::sleep(Duration::from_millis(2_100));
    runners.iter().filter(|runner| runner.program.is_quick).for_each(|runner| {
        runner.run(first);
    });
    row("nothing changed", runners, |runner| runner.idle(first));
    let hidden = Graph { hidden: 2, ..first };
    row("parameter changed, output the same", runners, |runner| runner.run(hidden));
    // For the others, minutes at the largest size.
    let quick = |runner: &&Runner| size < 100 || runner.program.is_quick;
    let runners: Vec<&Runner> = runners.iter().filter(quick).collect();
    let shown = Graph { shown: 2, ..hidden };
    row("parameter changed", &runners, |runner| runner.run(shown));
    row("parameter put back", &runners, |runner| runner.run(hidden));
    row("comment in a script", &runners, |runner| runner.run(Graph { comments: 1, ..hidden }));
}

fn row<R: std::borrow::Borrow<Runner>>(what: &str, runners: &[R], step: impl Fn(&Runner) -> (Duration, usize)) {
    let mut line = format!("     {what:<38}");
    let mut seconds = std::collections::BTreeMap::new();
    for runner in runners {
        let runner = runner.borrow();
        let (time, executed) = step(runner);
        seconds.insert(runner.program.name, time.as_secs_f64());
        line += &format!("{:>16}", format!("{:.4} [{executed}]", time.as_secs_f64()));
    }
    let ratio = |above: &str, below: &str| match (seconds.get(above), seconds.get(below)) {
        (Some(above), Some(below)) => format!("{:.1}", above / below),
        _ => "-".into(),
    };
    println!("{line}   {:>11}   {:>9}", ratio("cwm", "ninja"), ratio("dvc", "cwm"));
}
