//! A sweep's worth of jobs: few calls, and little work beside them. `CWM_SLURM_CELLS=1728` is the paper's search; without it a
//! tenth of that is done.

use std::os::unix::process::ExitStatusExt;
use std::time::Instant;

use super::cluster::Cluster;

/// Programs that count how often they are called, before Slurm's own.
const COUNTED: &str = "#!/bin/sh\nname=$(basename \"$0\")\necho \"$*\" >> \"$HOME/calls-$name\"\nPATH=${PATH#*:}\nexec \"$name\" \"$@\"\n";

#[test]
#[expect(clippy::zombie_processes, reason = "`wait4` waits for it, and tells what it used")]
fn a_sweep_is_submitted_in_a_handful_of_calls() {
    let cells: usize = std::env::var("CWM_SLURM_CELLS").ok().and_then(|cells| cells.parse().ok()).unwrap_or(172);
    let axis: Vec<String> = (0..cells).map(|n| n.to_string()).collect();
    let yaml = format!(
        "cwm: 1\nstages:\n  each:\n    stage: command\n    matrix: {{ n: [{}] }}\n    with: {{ run: 'echo $n > \"$out\"', n: $n }}\n",
        axis.join(", ")
    );
    // As gentle as it is by default; with Slurm's default for arrays.
    let Some(cluster) = Cluster::start(&yaml, "", &[("CWM_SLURM_MAX_ARRAY", "1001")]) else { return };
    for program in ["sbatch", "squeue", "scontrol"] {
        let name = format!("bin/{program}");
        cluster.context.write(&name, COUNTED);
        let made = std::process::Command::new("chmod").arg("+x").arg(cluster.context.path(&name)).status();
        assert!(made.expect("chmod").success());
    }
    let path = format!("{}:{}", cluster.context.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let began = Instant::now();
    let mut command = cluster.command(&["run"]);
    let child = command.env("PATH", path).stderr(std::process::Stdio::null()).spawn().expect("cwm starts");
    let (status, usage) = wait(child.id());
    assert_eq!(status.code(), Some(0), "{status:?}");
    let seconds = began.elapsed().as_secs_f64();
    let calls = |program: &str| {
        let text = std::fs::read_to_string(cluster.context.path(&format!("calls-{program}"))).unwrap_or_default();
        text.lines().count()
    };
    let (sbatch, squeue, scontrol) = (calls("sbatch"), calls("squeue"), calls("scontrol"));
    println!(
        "{cells} cells in {seconds:.0} s: {sbatch} sbatch, {squeue} squeue, {scontrol} scontrol; {usage:.2} s of processor in the run \
         and in these"
    );
    assert_eq!((sbatch, scontrol), (cells.div_ceil(1001), 1));
    // One for all jobs, at most every five seconds.
    assert!(squeue as f64 <= seconds / 5.0 + 2.0, "{squeue} in {seconds} s");
    let shown = cluster.cwm(&["status"]);
    assert!(shown.stdout.ends_with(&format!("{cells} cached\n")), "{}", shown.stderr);
}

/// Waits for a child; how it ended, and the seconds of processor that it and what it waited for took.
fn wait(pid: u32) -> (std::process::ExitStatus, f64) {
    let mut status = 0;
    // SAFETY: an all-zero rusage is a valid one, which wait4 only writes into, as it does into `status`; nobody else waits.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(pid as libc::pid_t, &mut status, 0, &mut usage), pid as libc::pid_t);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (std::process::ExitStatus::from_raw(status), seconds(usage.ru_utime) + seconds(usage.ru_stime))
}
