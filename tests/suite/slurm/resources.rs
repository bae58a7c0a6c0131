//! Memory and GPUs, as a real Slurm gives and takes them.

use super::cluster::{Cluster, QUICK, events};

/// A stage whose command is killed, and one that the kernel kills first itself, as it would a stage of cwm.
const GREEDY: &str = r#"
cwm: 1
stages:
  command: { stage: command, needs: { memory: 100MB }, with: { run: '$EAT && echo x > "$out"' } }
  itself:
    stage: command
    needs: { memory: 100MB }
    with: { run: 'echo 1000 > /proc/$PPID/oom_score_adj; echo "itself" >> "$HOME/ran"; $EAT && echo x > "$out"' }
  modest: { stage: command, needs: { memory: 100MB }, with: { run: 'echo x > "$out"' } }
"#;

/// Takes 400 MB, as a line that does not end, and holds it for a while.
const EAT: &str = "(head -c 400000000 /dev/zero; sleep 20) | tail > /dev/null";

/// Starts a cluster that enforces the memory that a job requests in this way.
fn limited(way: &[(&str, &str)]) -> Option<Cluster> {
    Cluster::start(&GREEDY.replace("$EAT", EAT), QUICK, way)
}

fn out_of_memory(cluster: &Cluster) {
    let run = cluster.run(&[]);
    assert_eq!((run.raw.code, run.ran.len()), (1, 1), "{}", run.raw.stdout);
    let failed = events(&run, "failed");
    for cell in ["command", "itself"] {
        let event = failed.iter().find(|event| event["label"] == cell).expect("it failed");
        assert_eq!(event["kind"], "out_of_memory", "{event}");
        assert!(event["hint"].as_str().is_some_and(|hint| hint.contains("`needs: { memory: … }`")), "{event}");
    }
    assert!(run.failed["itself"].contains("was out of memory (it had 1 core, 100.0 MB)"), "{:?}", run.failed);
    assert_eq!(cluster.starts()["itself"], 1, "it is not submitted again");
}

/// If Slurm measures the memory itself, its queue reports just that such a job failed.
#[test]
fn exceeding_the_memory_that_slurm_measures_is_reported() {
    let lines =
        "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=task=1\nJobAcctGatherParams=OverMemoryKill";
    let Some(cluster) = limited(&[("CWM_SLURM_LINES", lines)]) else { return };
    out_of_memory(&cluster);
}

#[test]
fn exceeding_the_memory_limit_of_the_kernel_is_reported() {
    // Slurm makes groups of its own in those of this machine, which takes an administrator and the first version of them.
    let group = std::path::Path::new("/sys/fs/cgroup/memory").join(format!("cwm-test-{}", std::process::id()));
    if std::fs::create_dir(&group).is_err() || std::fs::metadata(group.join("memory.limit_in_bytes")).is_err() {
        let _ = std::fs::remove_dir(&group);
        println!("skipped: no memory control groups (version 1) that can be written");
        return;
    }
    std::fs::remove_dir(&group).expect("an empty group");
    let cgroup = "CgroupAutomount=no\nCgroupMountpoint=/sys/fs/cgroup\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\nAllowedSwapSpace=0";
    let lines = "ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup";
    let Some(cluster) = limited(&[("CWM_SLURM_CGROUP", cgroup), ("CWM_SLURM_LINES", lines)]) else { return };
    out_of_memory(&cluster);
}

#[test]
fn gpus_are_assigned_by_slurm_and_hidden_from_other_jobs() {
    let yaml = r#"
cwm: 1
stages:
  gpu: { stage: command, matrix: { n: [0, 1] }, needs: { gpu: 1 }, with: { run: 'echo "<$CUDA_VISIBLE_DEVICES>" > "$out"; sleep 3', n: $n } }
  cpu: { stage: command, with: { run: 'echo "<$CUDA_VISIBLE_DEVICES>" > "$out"' } }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[("CWM_SLURM_GPUS", "2")]) else { return };
    assert_eq!(cluster.run(&[]).raw.code, 0);
    let mut seen = [0, 1].map(|n| cluster.context.output(&format!("gpu[n={n}]")));
    seen.sort();
    assert_eq!((seen, cluster.context.output("cpu").as_str()), (["<0>\n".to_owned(), "<1>\n".to_owned()], "<>\n"));
}

/// Each takes its device for itself alone, and tells if somebody else has it.
#[test]
fn a_gpu_belongs_to_one_job() {
    let yaml = r#"
cwm: 1
stages:
  one:
    stage: command
    matrix: { n: [0, 1, 2, 3, 4] }
    needs: { gpu: 1 }
    with: { run: 'd="$HOME/gpu-$CUDA_VISIBLE_DEVICES"; mkdir "$d" || exit 3; sleep 2; rmdir "$d"; echo "$CUDA_VISIBLE_DEVICES" > "$out"', n: $n }
  both:
    stage: command
    needs: { gpu: 2 }
    with: { run: 'mkdir "$HOME/gpu-0" "$HOME/gpu-1" || exit 3; sleep 1; rmdir "$HOME/gpu-0" "$HOME/gpu-1"; echo "$CUDA_VISIBLE_DEVICES" > "$out"' }
"#;
    let Some(cluster) = Cluster::start(yaml, QUICK, &[("CWM_SLURM_GPUS", "2")]) else { return };
    let run = cluster.run(&[]);
    assert_eq!((run.raw.code, run.ran.len()), (0, 6), "{:?}\n{}", run.failed, run.raw.stdout);
    assert_eq!(cluster.context.output("both"), "0,1\n");
    for n in 0..5 {
        let seen = cluster.context.output(&format!("one[n={n}]"));
        assert!(seen == "0\n" || seen == "1\n", "{seen}");
    }
}
