//! Job states that a real Slurm cannot produce in a test, from a fake one: three small scripts, and a file as its queue.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::cluster::{ended, events, signal, warned};
use crate::context::{Context, Run};

const SBATCH: &str = r#"#!/bin/sh
for word; do
    case $word in
        --comment=*) comment=${word#--comment=} ;;
        --array=0-*) last=${word#--array=0-} ;;
    esac
    script=$word
done
echo "$*" >> "$PRETENDED/calls"
if [ -e "$PRETENDED/refuses" ] && [ "${last:-0}" -ge "$(cat "$PRETENDED/refuses")" ]; then
    echo 'sbatch: error: QOSMaxSubmitJobPerUserLimit' >&2
    echo 'sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit)' >&2
    exit 1
fi
if [ -e "$PRETENDED/unreachable" ]; then
    echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)' >&2
    exit 1
fi
id=$(($(cat "$PRETENDED/last" 2>/dev/null || echo 0) + 1))
echo $id > "$PRETENDED/last"
echo "$script" > "$PRETENDED/script-$id"
# In one write, for whoever reads it just now.
lines=$(for index in $(seq 0 $last); do echo "$id|$index|PENDING|Priority||$comment"; done)
echo "$lines" >> "$PRETENDED/queue"
if [ -e "$PRETENDED/mute" ]; then
    echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2
    exit 1
fi
echo $id
"#;

const SQUEUE: &str = r#"#!/bin/sh
echo squeue >> "$PRETENDED/looks"
if [ -e "$PRETENDED/down" ]; then
    echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2
    exit 1
fi
cat "$PRETENDED/queue" 2>/dev/null || true
"#;

const SCONTROL: &str = "#!/bin/sh\necho 'MaxArraySize            = 1001'\n";

/// A Slurm that is pretended, and a run on it.
struct Pretended {
    context: Context,
}

impl Pretended {
    fn with(cells: usize, slurm: &str) -> Pretended {
        let axis: Vec<String> = (0..cells).map(|n| n.to_string()).collect();
        let yaml = format!(
            "cwm: 1\nstages:\n  a:\n    stage: command\n    matrix: {{ n: [{}] }}\n    with: {{ run: 'echo $n > \"$out\"', n: $n }}\n",
            axis.join(", ")
        );
        let context = Context::with(&yaml);
        context.write(
            "cwm.toml",
            &format!("executor = \"slurm\"\n[slurm]\npoll = \"200ms\"\nvisibility_timeout = \"1500ms\"\n{slurm}"),
        );
        for (name, text) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scontrol", SCONTROL)] {
            let name = format!("bin/{name}");
            context.write(&name, text);
            let made = Command::new("chmod").arg("+x").arg(context.path(&name)).status().expect("chmod");
            assert!(made.success());
        }
        Pretended { context }
    }

    fn start(&self) -> Child {
        self.start_with(&[])
    }

    fn start_with(&self, arguments: &[&str]) -> Child {
        let path = format!("{}:{}", self.context.path("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut command = self.context.command(&[&["run", "--json"], arguments].concat());
        command.env("PATH", path).env("PRETENDED", self.context.path("."));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("cwm starts")
    }

    #[track_caller]
    fn await_true(&self, what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(100), "in vain: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.context.path(name)).unwrap_or_default()
    }

    /// Waits for the job of this number.
    #[track_caller]
    fn await_job(&self, job: u32) {
        self.await_true("it is submitted", || {
            self.text("queue").lines().any(|line| line.starts_with(&format!("{job}|")))
        });
    }

    /// Puts a task into another state, or takes it out of the queue.
    fn set(&self, job: u32, index: u32, state: Option<&str>) {
        let begin = format!("{job}|{index}|");
        let mut queue = String::new();
        let state = state.map(|state| if state.contains('|') { state.to_owned() } else { format!("{state}|None") });
        for line in self.text("queue").lines() {
            match (line.strip_prefix(&begin), &state) {
                (None, _) => queue += &format!("{line}\n"),
                (Some(rest), Some(state)) => {
                    let comment = rest.rsplit('|').next().unwrap_or_default();
                    queue += &format!("{begin}{state}|cn1|{comment}\n");
                }
                (Some(_), None) => {}
            }
        }
        // In one instant, for whoever reads it just now.
        self.context.write("queue.new", &queue);
        std::fs::rename(self.context.path("queue.new"), self.context.path("queue")).expect("a rename");
    }

    /// Does what a node does with a task, and takes it off the queue.
    fn perform(&self, job: u32, index: u32) {
        let script = self.text(&format!("script-{job}"));
        let ran = Command::new("sh").arg(script.trim()).env("SLURM_ARRAY_TASK_ID", index.to_string()).status();
        assert!(ran.expect("a shell").success());
        self.set(job, index, Some("COMPLETED"));
    }

    fn calls(&self) -> usize {
        self.text("calls").lines().count()
    }
}

fn kind(run: &Run) -> String {
    let failed = &events(run, "failed")[0];
    failed["kind"].as_str().expect("a kind").to_owned()
}

#[test]
fn preempted_tasks_are_submitted_again_without_limit() {
    let pretended = Pretended::with(1, "resubmit = 0\n");
    let run = pretended.start();
    for job in 1..4 {
        pretended.await_job(job);
        pretended.set(job, 0, Some("PREEMPTED"));
    }
    pretended.await_job(4);
    pretended.perform(4, 0);
    let run = ended(run);
    run.ran_just(&["a[n=0]"]);
    let is_warned = |event: &serde_json::Value| event["message"].as_str().is_some_and(|m| m.contains("was preempted"));
    assert_eq!(events(&run, "warning").iter().filter(|event| is_warned(event)).count(), 3);
}

#[test]
fn a_node_that_fails_again_and_again_is_a_failure_in_the_end() {
    let pretended = Pretended::with(1, "resubmit = 1\n");
    let run = pretended.start();
    for job in 1..3 {
        pretended.await_job(job);
        pretended.set(job, 0, Some("NODE_FAIL"));
    }
    let run = ended(run);
    assert_eq!(run.failed["a[n=0]"], "the node of its job 2_0 failed; it was submitted 2 times");
    assert_eq!(pretended.calls(), 2);
}

#[test]
fn out_of_memory_is_reported_with_the_limit_to_raise() {
    let pretended = Pretended::with(1, "");
    pretended.context.edit("pipeline.yaml", "    with:", "    needs: { memory: 2GB }\n    with:");
    let run = pretended.start();
    pretended.await_job(1);
    pretended.set(1, 0, Some("OUT_OF_MEMORY"));
    let run = ended(run);
    assert_eq!((kind(&run).as_str(), run.failed.len()), ("out_of_memory", 1));
    assert!(run.failed["a[n=0]"].contains("was out of memory (it had 1 core, 2.0 GB)"), "{:?}", run.failed);
}

#[test]
fn a_job_that_disappeared_is_submitted_again() {
    let pretended = Pretended::with(2, "");
    let run = pretended.start();
    pretended.await_job(1);
    pretended.perform(1, 0);
    pretended.set(1, 0, None);
    pretended.set(1, 1, None);
    pretended.await_job(2);
    pretended.perform(2, 0);
    let run = ended(run);
    run.ran_just(&["a[n=0]", "a[n=1]"]);
    let is_warned = |event: &serde_json::Value| {
        event["message"].as_str().is_some_and(|m| m.contains("nothing is left of its job 1_1"))
    };
    assert!(events(&run, "warning").iter().any(is_warned), "{}", run.raw.stdout);
}

/// As a controller does that was killed before it had saved what it took.
#[test]
fn a_job_whose_id_is_given_to_another_one_is_lost() {
    let pretended = Pretended::with(1, "");
    let run = pretended.start();
    pretended.await_job(1);
    let looks = pretended.text("looks").lines().count();
    pretended.await_true("it is asked", || pretended.text("looks").lines().count() > looks);
    pretended.context.write("queue.new", "1|0|RUNNING|None|cn1|cwm:20260101T000000-0123456789abcdef\n");
    std::fs::rename(pretended.context.path("queue.new"), pretended.context.path("queue")).expect("a rename");
    pretended.await_job(2);
    pretended.perform(2, 0);
    let run = ended(run);
    run.ran_just(&["a[n=0]"]);
    assert!(warned(&run, "nothing is left of its job 1_0"), "{}", run.raw.stdout);
}

#[test]
fn of_many_resubmitted_tasks_a_few_are_named() {
    let pretended = Pretended::with(40, "");
    let run = pretended.start();
    pretended.await_job(1);
    let queue = pretended.text("queue").replace("|PENDING|Priority||", "|PREEMPTED|None|cn1|");
    pretended.context.write("queue.new", &queue);
    std::fs::rename(pretended.context.path("queue.new"), pretended.context.path("queue")).expect("a rename");
    pretended.await_job(2);
    (0..40).for_each(|index| pretended.perform(2, index));
    let run = ended(run);
    assert_eq!((run.raw.code, run.ran.len(), pretended.calls()), (0, 40, 2), "{}", run.raw.stdout);
    assert!(warned(&run, "submitted again: a[n=0] (its job 1_0 was preempted), "), "{}", run.raw.stdout);
    assert!(warned(&run, " and 32 more"), "{}", run.raw.stdout);
    assert_eq!(events(&run, "warning").len(), 1, "{}", run.raw.stdout);
}

#[test]
fn nothing_is_taken_for_lost_while_the_controller_is_silent() {
    let pretended = Pretended::with(1, "");
    let run = pretended.start();
    pretended.await_job(1);
    pretended.context.write("down", "");
    pretended.set(1, 0, None);
    let looks = pretended.text("looks").lines().count();
    // Several times the visibility timeout.
    pretended.await_true("it is asked again", || pretended.text("looks").lines().count() >= looks + 12);
    assert_eq!(pretended.calls(), 1);
    pretended.perform(1, 0);
    std::fs::remove_file(pretended.context.path("down")).expect("a file");
    ended(run).ran_just(&["a[n=0]"]);
    assert_eq!(pretended.calls(), 1);
}

#[test]
fn a_job_accepted_despite_an_error_of_sbatch_is_not_submitted_twice() {
    let pretended = Pretended::with(3, "");
    pretended.context.write("mute", "");
    let run = pretended.start();
    pretended.await_job(1);
    pretended.await_true("the queue is asked", || pretended.text("looks").lines().count() >= 4);
    (0..3).for_each(|index| pretended.perform(1, index));
    let run = ended(run);
    run.ran_just(&["a[n=0]", "a[n=1]", "a[n=2]"]);
    assert_eq!(pretended.calls(), 1);
    assert_eq!(events(&run, "submitted")[0]["adopted"], true);
}

#[test]
fn a_job_that_was_not_accepted_is_submitted_when_the_controller_answers() {
    let pretended = Pretended::with(3, "");
    pretended.context.write("unreachable", "");
    let run = pretended.start();
    pretended.await_true("it is tried again", || pretended.calls() >= 2);
    std::fs::remove_file(pretended.context.path("unreachable")).expect("a file");
    pretended.await_job(1);
    (0..3).for_each(|index| pretended.perform(1, index));
    ended(run).ran_just(&["a[n=0]", "a[n=1]", "a[n=2]"]);
    let batches = std::fs::read_dir(pretended.context.path("artifacts/batches")).expect("a folder").count();
    assert_eq!(batches, 1, "the same batch");
}

#[test]
fn where_too_many_jobs_are_refused_fewer_are_submitted_at_a_time() {
    let pretended = Pretended::with(5, "");
    pretended.context.write("refuses", "2");
    let run = pretended.start();
    let mut done = 0;
    for job in 1.. {
        pretended.await_job(job);
        let indices = pretended.text("queue").lines().filter(|line| line.starts_with(&format!("{job}|"))).count();
        assert!(indices <= 2, "{indices}");
        (0..indices as u32).for_each(|index| pretended.perform(job, index));
        done += indices;
        if done == 5 {
            break;
        }
    }
    assert_eq!(ended(run).ran.len(), 5);
}

#[test]
fn no_more_jobs_are_in_the_queue_than_the_site_allows() {
    let pretended = Pretended::with(5, "max_jobs = 2\n");
    let run = pretended.start();
    let mut done = 0;
    let mut job = 0;
    while done < 5 {
        job += 1;
        pretended.await_job(job);
        let queue = pretended.text("queue");
        let waiting = queue.lines().filter(|line| line.contains("|PENDING|")).count();
        assert!(waiting <= 2, "{queue}");
        let indices = queue.lines().filter(|line| line.starts_with(&format!("{job}|"))).count();
        (0..indices as u32).for_each(|index| pretended.perform(job, index));
        done += indices;
    }
    assert_eq!(ended(run).ran.len(), 5);
}

#[test]
fn without_slurm_the_error_explains_where_to_run() {
    let pretended = Pretended::with(1, "");
    let mut command = pretended.context.command(&["run", "--json"]);
    let run = command.env("PATH", "/nowhere").output().expect("cwm starts");
    let run = Run::read(crate::context::finish(run));
    assert!(run.failed["a[n=0]"].ends_with("of Slurm is not installed here"), "{:?}", run.failed);
    let detached = pretended.context.cwm(&["run", "--detach", "--executor", "local"]);
    assert!(detached.code == 2 && detached.stderr.contains("add `--executor slurm`"), "{}", detached.stderr);
    let jobs = pretended.context.cwm(&["run", "--jobs", "3"]);
    assert!(jobs.code == 2 && jobs.stderr.contains("`max_jobs` under [slurm]"), "{}", jobs.stderr);
}

#[test]
fn a_run_that_is_stopped_while_the_controller_is_silent_ends_at_once() {
    let pretended = Pretended::with(2, "");
    let run = pretended.start();
    pretended.await_job(1);
    pretended.await_true("it is asked", || pretended.text("looks").lines().count() >= 1);
    pretended.context.write("down", "");
    signal(&run, "-INT");
    let run = ended(run);
    assert_eq!(run.raw.code, 130);
    // The last one names the command that resumes.
    let stay = |run: &Run| events(run, "warning").iter().rev().nth(1).expect("two warnings")["message"].to_string();
    let message = stay(&run);
    assert!(message.contains("2 cells stay with Slurm") && message.contains("`scancel 1` ends them"), "{message}");
    assert!(!message.contains("other runs"), "{message}");

    // Who only found them may have more of them ended than he waits for.
    std::fs::remove_file(pretended.context.path("down")).expect("it is there");
    let looks = pretended.text("looks").lines().count();
    let run = pretended.start();
    pretended.await_true("it is asked again", || pretended.text("looks").lines().count() > looks);
    signal(&run, "-INT");
    let message = stay(&ended(run));
    assert!(message.contains("`scancel 1` ends them, with all that other runs wait for"), "{message}");
}

#[test]
fn a_forced_job_is_waited_for_although_its_result_is_recorded() {
    let pretended = Pretended::with(1, "");
    let made = pretended.context.cwm(&["run", "--executor", "local"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let run = pretended.start_with(&["--force", "a"]);
    pretended.await_job(1);
    let looks = pretended.text("looks").lines().count();
    pretended.await_true("the queue is asked", || pretended.text("looks").lines().count() >= looks + 3);
    pretended.perform(1, 0);
    ended(run).ran_just(&["a[n=0]"]);
    assert_eq!(pretended.calls(), 1);
}
