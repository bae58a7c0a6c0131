//! Jobs that have to make room for those of a better partition, on a real Slurm.

use super::cluster::{Cluster, QUICK, ended, events, warned};
use crate::context::Run;

/// Two that need all cores, of which the first starts for nothing.
const TWO: &str = r#"
cwm: 1
stages:
  each:
    stage: command
    matrix: { n: [0, 1] }
    needs: { cpu: 8 }
    with: { run: 'echo "each $n" >> "$HOME/ran"; touch "$HOME/begun"; test $(wc -l < "$HOME/ran") != 1 || sleep 100; echo $n > "$out"', n: $n }
"#;

/// The cluster with a second partition, and the run, while whose first job one of that partition came; `mode` is what Slurm does
/// then.
fn preempted(mode: &str) -> Option<(Cluster, Run)> {
    let lines = format!(
        "PreemptType=preempt/partition_prio\nPreemptMode={mode}\n\
         PartitionName=urgent Nodes=ALL PriorityTier=10 MaxTime=60 DefMemPerCPU=64 State=UP"
    );
    let cluster = Cluster::start(TWO, QUICK, &[("CWM_SLURM_LINES", &lines)])?;
    let child = cluster.spawn(&[]);
    cluster.context.await_file("begun");
    // Past the moment in which the job is being started.
    std::thread::sleep(std::time::Duration::from_secs(3));
    cluster.slurm("sbatch", &["--partition=urgent", "--cpus-per-task=8", "--output=/dev/null", "--wrap=sleep 3"]);
    let run = ended(child);
    assert_eq!((run.raw.code, run.ran.len()), (0, 2), "{}", run.raw.stdout);
    let mut starts: Vec<usize> = cluster.starts().into_values().collect();
    starts.sort_unstable();
    assert_eq!(starts, [1, 2], "{:?}", cluster.starts());
    Some((cluster, run))
}

#[test]
fn a_requeued_task_continues() {
    let Some((cluster, run)) = preempted("REQUEUE") else { return };
    assert_eq!((cluster.jobs().len(), events(&run, "started").len()), (1, 2), "submitted once");
}

#[test]
fn preempted_and_cancelled_tasks_are_submitted_again() {
    let Some((cluster, run)) = preempted("CANCEL") else { return };
    assert_eq!(cluster.jobs().len(), 2, "{:?}", cluster.jobs());
    assert!(warned(&run, "was preempted)"), "{}", run.raw.stdout);
}
