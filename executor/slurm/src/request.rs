//! The resources that a cell requests of Slurm, the options of `sbatch` for them, and the script of a batch.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use cwm_contract::{DeviceChoice, Needs, Resources};

use super::queue::COMMENT_PREFIX;
use super::settings::JobSettings;
use cwm_core::{exact_duration, plural, shell_quote};

/// The cores of a stage that takes all there are (`cpu: all`), unless `cpus` sets it.
const DEFAULT_CPUS: u32 = 8;

/// The resources of a job. Cells with equal requests are tasks of one array.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceRequest {
    /// Their stage.
    pub stage: String,
    /// Cores.
    pub cpus: u32,
    /// Whole GPUs.
    pub gpus: u32,
    /// Bytes of memory; 0 requests none.
    pub memory: u64,
    /// The time limit of the job.
    pub time: Option<Duration>,
}

impl ResourceRequest {
    /// Returns the request of a stage with these `needs`. A part of a GPU is a whole one, as Slurm does not divide them.
    pub fn of(stage: &str, needs: &Needs, time: Option<Duration>, settings: &JobSettings) -> ResourceRequest {
        ResourceRequest {
            stage: stage.to_owned(),
            cpus: needs.cpu.or(settings.slurm.cpus.map(NonZeroU32::get)).unwrap_or(DEFAULT_CPUS).max(1),
            gpus: needs.gpu.ceil() as u32,
            memory: needs.memory,
            time: time.or(settings.slurm.time),
        }
    }

    /// Returns the share of a machine that a cell with this request has. Slurm chooses which GPUs, and a job counts its own
    /// from 0.
    pub fn resources(&self, device: DeviceChoice) -> Resources {
        Resources {
            cores: self.cpus as usize,
            memory: (self.memory > 0).then_some(self.memory),
            devices: (0..self.gpus).map(|index| format!("cuda:{index}")).collect(),
            accelerator_unavailable: false,
            device: if matches!(device, DeviceChoice::Cuda(_)) { DeviceChoice::Cuda(0) } else { device },
        }
    }

    /// The options of `sbatch` for it.
    fn options(&self) -> Vec<String> {
        let mut options = vec!["--ntasks=1".to_owned(), "--nodes=1".to_owned()];
        options.push(format!("--cpus-per-task={}", self.cpus));
        if self.gpus > 0 {
            options.push(format!("--gres=gpu:{}", self.gpus));
        }
        if self.memory > 0 {
            options.push(format!("--mem={}M", self.memory.div_ceil(1 << 20)));
        }
        // Minutes: Slurm rounds up to whole ones anyway.
        options.extend(self.time.map(|time| format!("--time={}", (time.as_secs_f64() / 60.0).ceil())));
        options
    }
}

/// `4 cores, 1 GPU, 8.6 GB, 2h`.
impl std::fmt::Display for ResourceRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = vec![plural(self.cpus.into(), "core", "cores")];
        if self.gpus > 0 {
            parts.push(plural(self.gpus.into(), "GPU", "GPUs"));
        }
        if self.memory > 0 {
            parts.push(cwm_contract::amount::format_bytes(self.memory));
        }
        parts.extend(self.time.map(exact_duration));
        f.write_str(&parts.join(", "))
    }
}

/// The parts of a job's script and options that do not depend on its work.
pub struct JobTemplate<'a> {
    /// The settings of jobs.
    pub settings: &'a JobSettings,
    /// The id of the batch.
    pub batch: &'a str,
    /// The folder of the batch.
    pub folder: &'a Path,
    /// The folder of the run's store.
    pub root: &'a Path,
    /// The program that the job runs.
    pub binary: &'a Path,
}

/// A job: the options of `sbatch`, and the script.
pub struct JobScript {
    /// The options, the path of the script last.
    pub options: Vec<String>,
    /// The content of the script.
    pub script: String,
}

impl JobTemplate<'_> {
    /// Makes the job of an array of `count` cells. Each task finds its key, and becomes `cwm exec KEY`.
    pub fn array(&self, request: &ResourceRequest, count: usize) -> JobScript {
        let mut script = format!("keys={}\n", quote(&self.folder.join("keys")));
        for threads in ["RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "TOKIO_WORKER_THREADS"] {
            script += &format!("export {threads}={}\n", request.cpus);
        }
        if request.gpus == 0 {
            script += "export CUDA_VISIBLE_DEVICES=\n";
        }
        // A network file system may show a new file a little later on another node.
        script += "tries=0\nwhile [ ! -r \"$keys\" ] && [ $tries -lt 60 ]; do tries=$((tries + 1)); sleep 2; done\n";
        script += "key=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" \"$keys\")\n";
        let (binary, root) = (quote(self.binary), quote(self.root));
        script += &format!(
            "exec {binary} exec \"$key\" --store {root} --batch {} --task \"$SLURM_ARRAY_TASK_ID\"\n",
            self.batch
        );
        self.job(request, Some(format!("--array=0-{}", count - 1)), "%a.out", &script)
    }

    /// Makes the job of a detached run: in the folder and with the arguments of the command.
    pub fn run(&self, folder: &Path, arguments: &[String]) -> JobScript {
        let time = self.settings.slurm.detached_time;
        let request = ResourceRequest { stage: "run".to_owned(), cpus: 1, gpus: 0, memory: 0, time };
        let arguments: Vec<String> = arguments.iter().map(|word| shell_quote(word)).collect();
        let script = format!("cd {} || exit 70\nexec {} {}\n", quote(folder), quote(self.binary), arguments.join(" "));
        self.job(&request, None, DETACHED_OUTPUT, &script)
    }

    fn job(&self, request: &ResourceRequest, array: Option<String>, output: &str, work: &str) -> JobScript {
        let slurm = &self.settings.slurm;
        let mut options = vec!["--parsable".to_owned()];
        let slurm_options = [("partition", &slurm.partition), ("account", &slurm.account), ("qos", &slurm.qos)];
        options.extend(slurm_options.iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?))));
        // A job that is started again appends to the same file.
        options.extend(["--open-mode=append", "--requeue", "--input=/dev/null"].map(str::to_owned));
        // Slurm replaces what follows a single `%`.
        let folder = self.folder.to_string_lossy().replace('%', "%%");
        options.extend([
            format!("--job-name=cwm-{}", request.stage),
            format!("--comment={COMMENT_PREFIX}{}", self.batch),
            format!("--output={folder}/{output}"),
            format!("--chdir={}", self.root.display()),
        ]);
        options.extend(request.options());
        options.extend(array);
        options.push(self.folder.join("script").to_string_lossy().into_owned());
        let mut script = "#!/bin/sh\n".to_owned();
        script.extend(slurm.lines.iter().map(|line| format!("#SBATCH {line}\n")));
        if !slurm.setup.is_empty() {
            // If `setup` ends the script, its exit status is in the output: Slurm keeps that for minutes only, and not everywhere.
            script += &format!("trap 'echo \"{SETUP_ENDED}$?\"' EXIT\n");
            script.extend(slurm.setup.iter().map(|line| format!("{line}\n")));
            script += "trap - EXIT\n";
        }
        script += work;
        JobScript { options, script }
    }
}

/// The name of the output of a detached run, in the folder of its batch.
pub const DETACHED_OUTPUT: &str = "run.out";

/// The text before the exit status in a job's output, if a line of setup ended it.
pub const SETUP_ENDED: &str = "cwm: setup ended with exit status ";

fn quote(path: &Path) -> String {
    shell_quote(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(slurm: cwm_project::config::SlurmConfig) -> JobSettings {
        JobSettings { slurm, remote_store: None }
    }

    fn request(needs: &Needs) -> ResourceRequest {
        ResourceRequest::of("train", needs, None, &JobSettings::default())
    }

    fn template<'a>(settings: &'a JobSettings, folder: &'a Path, binary: &'a Path) -> JobTemplate<'a> {
        JobTemplate { settings, batch: "b", folder, root: Path::new("/a store"), binary }
    }

    #[test]
    fn needs_become_options() {
        let needs = Needs { cpu: Some(4), gpu: 0.25, memory: (8 << 30) + 1 };
        let timed = ResourceRequest::of("train", &needs, Some(Duration::from_secs(100_000)), &JobSettings::default());
        let options = timed.options().join(" ");
        assert_eq!(options, "--ntasks=1 --nodes=1 --cpus-per-task=4 --gres=gpu:1 --mem=8193M --time=1667");
        let plain = request(&Needs { cpu: None, gpu: 0.0, memory: 0 });
        assert_eq!(plain.options().join(" "), "--ntasks=1 --nodes=1 --cpus-per-task=8");
        let slurm = cwm_project::config::SlurmConfig { time: Some(Duration::from_secs(90)), ..Default::default() };
        let request = ResourceRequest::of("a", &needs, None, &settings(slurm));
        assert_eq!(request.to_string(), "4 cores, 1 GPU, 8.6 GB, 1m30s");
    }

    #[test]
    fn a_gpu_by_number_is_the_jobs_own_first() {
        let resources = request(&Needs { cpu: Some(1), gpu: 2.0, memory: 0 }).resources(DeviceChoice::Cuda(5));
        assert_eq!(resources.devices, ["cuda:0", "cuda:1"]);
        assert_eq!(resources.device, DeviceChoice::Cuda(0));
    }

    #[test]
    fn setup_that_ends_the_script_leaves_its_status() {
        let output_of = |setup: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("keys"), "first\n").unwrap();
            let setup = setup.iter().map(|line| (*line).to_owned()).collect();
            let settings = settings(cwm_project::config::SlurmConfig { setup, ..Default::default() });
            let request = request(&Needs::default());
            let script = template(&settings, folder.path(), Path::new("/bin/echo")).array(&request, 1).script;
            let mut shell = std::process::Command::new("sh");
            let ran = shell.args(["-c", &script]).env("SLURM_ARRAY_TASK_ID", "0").output().unwrap();
            (ran.status.code().unwrap(), String::from_utf8(ran.stdout).unwrap())
        };
        for (setup, status) in [
            (&["exit 7"][..], 7),
            (&["cd /nonexistent 2> /dev/null || exit 3", "true"], 3),
            (&["set -e", "false", "true"], 1),
            (&["exit"], 0),
        ] {
            assert_eq!(output_of(setup), (status, format!("{SETUP_ENDED}{status}\n")), "{setup:?}");
        }
        // As in any script, what fails and ends nothing is passed over.
        let (status, text) = output_of(&["false", "(exit 3)", "x=$(false)"]);
        assert!(status == 0 && text.starts_with("exec first --store /a store"), "{text}");
    }

    #[test]
    fn the_script_survives_any_name_of_a_folder() {
        let folder = tempfile::Builder::new().prefix("it's 5% ").tempdir().unwrap();
        let (keys, output) = (folder.path().join("keys"), folder.path().join("output"));
        std::fs::write(&keys, "first\nsecond\n").unwrap();
        let binary = folder.path().join("binary");
        std::fs::write(
            &binary,
            format!("#!/bin/sh\necho \"$@\" $RAYON_NUM_THREADS > {}\n", shell_quote(&output.to_string_lossy())),
        )
        .unwrap();
        std::fs::set_permissions(&binary, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let (lines, setup) = (vec!["-C x".into()], vec!["false".into()]);
        let settings = settings(cwm_project::config::SlurmConfig { lines, setup, ..Default::default() });
        let request = request(&Needs::default());
        let JobScript { options, script } = template(&settings, folder.path(), &binary).array(&request, 2);
        let trap = "trap 'echo \"cwm: setup ended with exit status $?\"' EXIT\n";
        assert!(script.starts_with(&format!("#!/bin/sh\n#SBATCH -C x\n{trap}false\ntrap - EXIT\n")), "{script}");
        let path = folder.path().join("script");
        std::fs::write(&path, script).unwrap();
        let ran = std::process::Command::new("sh").arg(&path).env("SLURM_ARRAY_TASK_ID", "1").status().unwrap();
        assert!(ran.success());
        assert_eq!(std::fs::read_to_string(output).unwrap(), "exec second --store /a store --batch b --task 1 1\n");
        assert!(options.iter().any(|option| option.contains("5%% ")));
    }
}
