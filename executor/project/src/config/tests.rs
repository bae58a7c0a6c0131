//! Reading `cwm.toml`, refusing a wrong one, and editing, which leaves all else as it was.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::read::parse;
use super::{
    ExecutorKind, InvalidRemote, NewRemote, ProjectConfig, Remote, RemoteKinds, StoreAccess, add_remote, remove_remote,
};

/// Kinds of remotes as tests need them: those of `s3://` have options, those of `https://` are read only.
struct Kinds;

impl RemoteKinds for Kinds {
    fn check(&self, remote: &Remote) -> Result<(), InvalidRemote> {
        let invalid = |key| Err(InvalidRemote { key, message: format!("`{key}` is wrong"), hint: None });
        let scheme = remote.url.split_once("://").map(|(scheme, _)| scheme);
        if scheme.is_some_and(|scheme| !["s3", "https"].contains(&scheme)) || remote.url.contains(['@', '?', '#']) {
            return invalid("url");
        }
        match remote.options.get("endpoint").is_some_and(|endpoint| endpoint.contains('@')) {
            true => invalid("endpoint"),
            false => Ok(()),
        }
    }

    fn is_read_only(&self, url: &str) -> bool {
        url.starts_with("https")
    }

    fn option_keys(&self, url: &str) -> Vec<&'static str> {
        if url.starts_with("https") { Vec::new() } else { vec!["endpoint", "region"] }
    }
}

fn add(file: &Path, new: &NewRemote<'_>) -> Result<(), cwm_core::Error> {
    add_remote(file, &Kinds, new, |_, _| Ok(()))
}

fn read(text: &str) -> ProjectConfig {
    parse(text, Path::new("/config/cwm.toml"), &Kinds).unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn faults(text: &str) -> String {
    parse(text, Path::new("/config/cwm.toml"), &Kinds).expect_err("it is wrong").to_string().replace("/config/", "")
}

#[test]
fn a_whole_file_is_read() {
    let config = read(
        "store = '../scratch/store'\nexecutor = 'slurm'\n\n[remotes.lab]\nurl = 's3://bucket/teams/chess'\n\
         endpoint = 'https://minio.example.org'\nregion = 'eu-1'\n\n[remotes.everybody]\nurl = 'https://example.org/cwm/'\n\
         \n[remotes.disk]\nurl = 'shared'\nread_only = true\n\n[slurm]\npartition = 'gpu'\naccount = 'chess'\nqos = 'low'\n\
         time = '1d12h'\nlines = ['--constraint=h100', '#SBATCH --exclusive']\nmax_jobs = 500\npoll = 20\nstore = 'remote'\nscratch = '/local/$USER'\n",
    );
    assert_eq!(config.store, Some(PathBuf::from("/config/../scratch/store")));
    assert_eq!(config.executor, ExecutorKind::Slurm);
    let names: Vec<(&str, bool)> = config.remotes.iter().map(|one| (one.name.as_str(), one.read_only)).collect();
    assert_eq!(names, [("lab", false), ("everybody", true), ("disk", true)], "in the order of the file");
    let lab = config.remote("lab").unwrap();
    assert_eq!((lab.url.as_str(), lab.base.as_path()), ("s3://bucket/teams/chess", Path::new("/config")));
    let options = [("endpoint", "https://minio.example.org"), ("region", "eu-1")];
    assert_eq!(lab.options, options.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    let slurm = config.slurm;
    assert_eq!((slurm.partition.as_deref(), slurm.qos.as_deref()), (Some("gpu"), Some("low")));
    assert_eq!(slurm.lines, ["--constraint=h100", "--exclusive"]);
    assert_eq!((slurm.time, slurm.poll), (Some(Duration::from_secs(129_600)), Some(Duration::from_secs(20))));
    assert_eq!((slurm.max_jobs.map(NonZeroUsize::get), slurm.store), (Some(500), StoreAccess::Remote));
    assert_eq!(slurm.scratch.as_deref(), Some("/local/$USER"));
    assert_eq!(read(""), ProjectConfig::default());
    assert_eq!(
        ProjectConfig::of(Path::new("/nowhere/at/all/pipeline.yaml"), &Kinds).unwrap(),
        ProjectConfig::default()
    );
}

#[test]
fn a_fault_is_reported_with_its_key_and_place() {
    for (text, expected) in [
        ("stroe = 'x'\n", "cwm.toml has no key `stroe` here\n--> cwm.toml:1:1\n = hint: did you mean `store`?"),
        ("\nexecutor = 'slrum'\n", "`executor`: expected `local` or `slurm`\n--> cwm.toml:2:12"),
        (
            "[slurm]\npartion = 'gpu'\n",
            "has no key `partion` here\n--> cwm.toml:2:1\n = hint: did you mean `partition`?",
        ),
        (
            "[slurm]\ntime = '3 months'\n",
            "`time`: must be a time such as \"5s\", \"30m\", \"4h\" or \"1d12h\"\n--> cwm.toml:2:8",
        ),
        (
            "[slurm]\nlines = ['rm -rf x']\n",
            "`lines`: must be options, each such as \"--constraint=h100\"\n--> cwm.toml:2:9",
        ),
        ("[slurm]\nlines = ['-x', 7]\n", "`lines`: expected a string\n--> cwm.toml:2:16"),
        ("[slurm]\naccount = 'a b'\n", "`account`: must be one word, as `sbatch` takes it\n--> cwm.toml:2:11"),
        ("[slurm]\nmax_jobs = 0\n", "`max_jobs`: expected a nonzero usize\n--> cwm.toml:2:12"),
        ("[slurm]\npoll = 0.1\n", "`poll`: must be a time"),
    ] {
        let message = faults(text);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn all_faults_of_remotes_are_reported_at_once_each_with_its_place() {
    insta::assert_snapshot!(faults(
        "[remotes.Lab]\nurl = 's3://bucket'\n\n[remotes.x]\nurl = 'ftp://x'\nreadonly = true\n\n[remotes.y]\nread_only = 1\n\
         \n[remotes.z]\nurl = 's3://x'\nread_only = 1\nregion = 1\ntimeout = '1 month'\n"
    ));
}

#[test]
fn scratch_is_a_folder_of_the_nodes_and_of_nothing_else() {
    let message = faults("[slurm]\nstore = 'remote'\nscratch = 'local/cwm'\n");
    assert!(message.contains("`scratch`: must be an absolute path"), "{message}");
    let message = faults("[slurm]\nscratch = '/local/cwm'\n");
    assert!(message.contains("cwm.toml:2:1") && message.contains("add `store = \"remote\"`"), "{message}");
}

#[test]
fn what_is_not_toml_is_reported_with_its_place() {
    for (text, place) in [("store = 'x'\nstore = 'y'\n", "2:1"), ("executor = local\n", "1:12"), ("\n[slurm\n", "2:7")]
    {
        let message = faults(text);
        assert!(message.contains(&format!("cwm.toml:{place}")), "{message}");
    }
}

#[test]
fn a_conflict_of_git_is_reported_with_its_line() {
    let message = faults(
        "[remotes.lab]\n<<<<<<< HEAD\nurl = '../lab'\n=======\nurl = '../other'\n>>>>>>> ben\n[slurm]\nqos = 'low'\n",
    );
    assert!(message.contains("--> cwm.toml:2:9\n = hint: git left a merge conflict"), "{message}");
    assert_eq!(message.matches("error").count(), 1, "{message}");
}

#[test]
fn an_error_shows_the_key_and_no_value() {
    for text in [
        "sas = 'hunter2'\n",
        "[remotes.lab]\nurl = 's3://bucket'\nsecret_access_key = 'hunter2' # hunter2\n",
        "[remotes.lab]\nurl = 's3://bucket'\nCREDENTIALS = { id = 'x', of = ['hunter2'] }\n",
        "remotes = { lab = { url = 's3://bucket', key = 'hunter2' } }\n",
        "[slurm]\ntoken = 'hunter2'\n",
        "[secrets]\nlab = 'hunter2'\n",
    ] {
        let message = faults(text);
        assert!(!message.contains("hunter2") && message.contains("put credentials into the environment"), "{message}");
    }
    for text in [
        "remotes = 'hunter2'\n",
        "executor = 'hunter2'\n",
        "[remotes]\nlab = 'hunter2'\n",
        "[slurm]\ntime = 'hunter2'\n",
        "[slurm]\nlines = ['--export=TOKEN=hunter2', 7]\n",
        "[remotes.lab]\nurl = 's3://bucket'\nx = 1 # hunter2\n",
        "[remotes.lab]\nurl = 's3://bucket'\nendpoint = 'https://a:hunter2@x'\n",
        "[remotes.lab]\nurl = 's3://bucket'\ntimeout = 'hunter2'\n",
        // Also where the file cannot be read.
        "secret_access_key = hunter2\n",
        "secret_access_key = 'hunter2\n",
        "password: hunter2\n",
        "token = \"\"\"\nhunter2\n",
        "[remotes.lab]\nurl = 'https://u:hunter2@h\n",
    ] {
        let message = faults(text);
        assert!(!message.contains("hunter2") && message.contains("--> cwm.toml:"), "{message}");
    }
}

#[test]
fn editing_keeps_comments_order_and_spaces() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cwm.toml");
    let new = |name, url| NewRemote { name, url, read_only: false, options: Vec::new() };
    add(&file, &new("lab", "s3://bucket/x")).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[remotes.lab]\nurl = \"s3://bucket/x\"\n");

    let ours = "# Ours.\nstore   = 'x' # here\n\n# The lab's.\n[remotes.lab]\nurl = 's3://bucket/x'\n\n[slurm] # jobs\nqos = 'low'\n";
    std::fs::write(&file, ours).unwrap();
    let all = NewRemote {
        read_only: true,
        options: vec![("endpoint", "http://h:1"), ("region", "r")],
        ..new("more", "s3://b")
    };
    add(&file, &all).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("store   = 'x' # here\n\n# The lab's.\n[remotes.lab]"), "{text}");
    let added = "[remotes.more]\nurl = \"s3://b\"\nread_only = true\nendpoint = \"http://h:1\"\nregion = \"r\"\n";
    assert!(text.contains(added) && text.contains("[slurm] # jobs\nqos = 'low'\n"), "{text}");
    remove_remote(&file, &Kinds, "more").unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), ours);
    remove_remote(&file, &Kinds, "lab").unwrap();
    assert!(!std::fs::read_to_string(&file).unwrap().contains("remotes"));
}

#[test]
fn a_comment_that_begins_the_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cwm.toml");
    for (before, after) in [
        ("# The config's.\n[remotes.lab]\nurl = 'x'\n", "# The config's.\n"),
        ("# The config's.\n\n# The lab's.\n[remotes.lab]\nurl = 'x'\n", "# The config's.\n\n"),
        (
            "# The config's.\n[remotes.lab]\nurl = 'x'\n\n[slurm]\nqos = 'low'\n",
            "# The config's.\n\n[slurm]\nqos = 'low'\n",
        ),
        ("store = 'x'\n\n# The lab's.\n[remotes.lab]\nurl = 'x'\n", "store = 'x'\n"),
    ] {
        std::fs::write(&file, before).unwrap();
        remove_remote(&file, &Kinds, "lab").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    }
}

#[test]
fn an_edit_that_would_be_wrong_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cwm.toml");
    let new = |name, url| NewRemote { name, url, read_only: false, options: Vec::new() };
    add(&file, &new("lab", "s3://bucket/x")).unwrap();
    let before = std::fs::read_to_string(&file).unwrap();
    for (name, url) in [("lab", "s3://other"), ("Lab", "s3://other"), ("other", "s3://u:p@h"), ("other", "nix://x")] {
        add(&file, &new(name, url)).expect_err(url);
    }
    remove_remote(&file, &Kinds, "nobody").unwrap_err();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    std::fs::write(&file, "store = \n").unwrap();
    assert!(add(&file, &new("a", "s3://b")).unwrap_err().diagnostics.is_some());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "store = \n");
}
