//! What stands in a site's file, what is refused, and that editing leaves all else as it was.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::address::{Address, Bucket};
use super::read::site;
use super::{ExecutorKind, JobStore, NewRemote, Site, add_remote, remove_remote};

fn add(file: &Path, new: &NewRemote<'_>) -> Result<(), cwm_core::error::Error> {
    add_remote(file, new, |_| PathBuf::from("/site/artifacts"))
}

fn read(text: &str) -> Site {
    site(text, "cwm.toml", Path::new("/site")).unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn faults(text: &str) -> String {
    site(text, "cwm.toml", Path::new("/site")).expect_err("it is wrong").to_string()
}

#[test]
fn a_whole_file_is_read() {
    let site = read(
        "store = '../scratch/store'\nexecutor = 'slurm'\n\n[remotes.lab]\nurl = 's3://bucket/teams/chess'\n\
         endpoint = 'https://minio.example.org'\nregion = 'eu-1'\n\n[remotes.everybody]\nurl = 'https://example.org/cwm/'\n\
         \n[remotes.disk]\nurl = 'shared'\nread_only = true\n\n[slurm]\npartition = 'gpu'\naccount = 'chess'\nqos = 'low'\n\
         time = '1d12h'\nlines = ['--constraint=h100', '#SBATCH --exclusive']\nmax_jobs = 500\npoll = 20\nstore = 'remote'\nscratch = '/local/$USER'\n",
    );
    assert_eq!(site.store, Some(PathBuf::from("/site/../scratch/store")));
    assert_eq!(site.executor, ExecutorKind::Slurm);
    let names: Vec<(&str, bool)> = site.remotes.iter().map(|one| (one.name.as_str(), one.read_only)).collect();
    assert_eq!(names, [("lab", false), ("everybody", true), ("disk", true)], "in the order of the file");
    let bucket = Bucket { name: "bucket".into(), prefix: "teams/chess".into() };
    assert_eq!(site.remote("lab").unwrap().address, Address::S3(bucket));
    assert_eq!(site.remote("everybody").unwrap().address, Address::Http("https://example.org/cwm".into()));
    assert_eq!(site.remote("disk").unwrap().address, Address::Folder("/site/shared".into()));
    let slurm = site.slurm;
    assert_eq!((slurm.partition.as_deref(), slurm.qos.as_deref()), (Some("gpu"), Some("low")));
    assert_eq!(slurm.lines, ["--constraint=h100", "--exclusive"]);
    assert_eq!((slurm.time, slurm.poll), (Some(Duration::from_secs(129_600)), Some(Duration::from_secs(20))));
    assert_eq!((slurm.max_jobs, slurm.store), (Some(500), JobStore::Remote));
    assert_eq!(slurm.scratch.as_deref(), Some("/local/$USER"));
    assert_eq!(read(""), Site::default());
    assert_eq!(Site::of(Path::new("/nowhere/at/all/pipeline.yaml")).unwrap(), Site::default());
}

#[test]
fn all_faults_are_told_at_once_each_with_its_place() {
    insta::assert_snapshot!(faults(
        "stroe = 'x'\nexecutor = 'slrum'\n\n[remotes.Lab]\nurl = 's3://bucket'\n\n[remotes.x]\nurl = 'ftp://x'\nreadonly = true\n\
         \n[remotes.y]\nread_only = 1\n\n[slurm]\npartion = 'gpu'\ntime = '3 weeks'\nlines = ['rm -rf x', 7]\naccount = 'a b'\n"
    ));
}

#[test]
fn scratch_is_a_folder_of_the_nodes_and_of_nothing_else() {
    let told = faults("[slurm]\nstore = 'remote'\nscratch = 'local/cwm'\n");
    assert!(told.contains("`scratch` must be an absolute path"), "{told}");
    let told = faults("[slurm]\nscratch = '/local/cwm'\n");
    assert!(told.contains("cwm.toml:2:1") && told.contains("add `store = \"remote\"`"), "{told}");
}

#[test]
fn what_is_not_toml_is_told_with_every_fault() {
    let told = faults("store = 'x'\nstore = 'y'\nexecutor = local\n[slurm\n");
    for place in ["cwm.toml:2:1", "cwm.toml:3:12", "cwm.toml:4:"] {
        assert!(told.contains(place), "{place} in\n{told}");
    }
}

#[test]
fn a_conflict_of_git_is_told_as_one_and_once() {
    let told = faults(
        "[remotes.lab]\n<<<<<<< HEAD\nurl = '../lab'\n=======\nurl = '../other'\n>>>>>>> ben\n[slurm]\nqos = 'low'\n",
    );
    assert!(told.contains("a conflict that git could not merge begins here\n--> cwm.toml:2:1"), "{told}");
    assert_eq!(told.matches("error").count(), 1, "{told}");
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
        let told = faults(text);
        assert!(!told.contains("hunter2") && told.contains("credentials come from the environment"), "{told}");
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
        let told = faults(text);
        assert!(!told.contains("hunter2") && told.contains("--> cwm.toml:"), "{told}");
    }
}

#[test]
fn credentials_in_urls_are_refused_and_never_shown() {
    for url in [
        "https://ada:hunter2@example.org/cwm",
        "https://ada:hun/hunter2@example.org",
        "https://example.org/cwm?sig=hunter2",
        "https://h/x;token=hunter2",
        "https://h/x/token=hunter2",
        "https://h/x%3Ftoken%3Dhunter2",
        "https://h/x&sig=hunter2",
        "https:/u:hunter2@h/x",
        "s3://AKIAX:hunter2@bucket/x",
        "s3:u:hunter2@h/x",
        "s3://b/x%3Fsecret=hunter2",
        "s3://b:hunter2/x",
        "az://container/x#hunter2",
        "user:hunter2@host:/p",
        "//u:hunter2@h/x",
        "file://u:hunter2@h/x",
        "file:///hunter2%20",
    ] {
        let told = faults(&format!("[remotes.lab]\nurl = \"{url}\"\n"));
        assert!(!told.contains("hunter2") && told.contains("--> cwm.toml:2:7"), "{told}");
    }
    // What only looks like credentials is not refused.
    for url in ["https://h:80/a%20b/year=2024/x~y", "https://h/keys", "/mnt/a@b:c", "./a:b@c"] {
        Address::parse(url, Path::new("/site")).unwrap_or_else(|refused| panic!("{url}: {}", refused.message));
    }
}

#[test]
fn addresses_are_what_people_write_or_refused_in_words() {
    let parse = |text: &str| Address::parse(text, Path::new("/site"));
    let bucket = |name: &str, prefix: &str| Bucket { name: name.into(), prefix: prefix.into() };
    assert_eq!(parse("gs://b/"), Ok(Address::Gcs(bucket("b", ""))));
    assert_eq!(parse("AZ://c/p/q/"), Ok(Address::Azure(bucket("c", "p/q"))));
    assert_eq!(parse("file:///mnt/x"), Ok(Address::Folder("/mnt/x".into())));
    assert_eq!(parse("../x y"), Ok(Address::Folder("/site/../x y".into())));
    for wrong in [
        "",
        "a\nb",
        "s3://",
        "s3:///x",
        "s3://b//x",
        "s3://b/../x",
        "s3://b/x y",
        "s3://b!",
        "http://",
        "http://h/../x",
        "http://h/a b",
        "file://x",
        "file:///a%20b",
        "~/x",
        "s4://b",
        "s3:/bucket",
        "S3:bucket/x",
        "https:/example.org",
        "file:/mnt/x",
    ] {
        let refused = parse(wrong).expect_err(wrong);
        assert!(!refused.message.is_empty());
    }
    assert_eq!(parse("./s3:/x"), Ok(Address::Folder("/site/./s3:/x".into())));
    assert_eq!(parse("s3.d/x:y"), Ok(Address::Folder("/site/s3.d/x:y".into())));
    assert_eq!(parse("s4://b").unwrap_err().hint.unwrap(), "did you mean `s3`?");
}

#[test]
fn editing_keeps_comments_order_and_spaces() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cwm.toml");
    let new = |name, url| NewRemote { name, url, read_only: false, endpoint: None, region: None };
    add(&file, &new("lab", "s3://bucket/x")).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[remotes.lab]\nurl = \"s3://bucket/x\"\n");

    let ours = "# Ours.\nstore   = 'x' # here\n\n# The lab's.\n[remotes.lab]\nurl = 's3://bucket/x'\n\n[slurm] # jobs\nqos = 'low'\n";
    std::fs::write(&file, ours).unwrap();
    let all = NewRemote { read_only: true, endpoint: Some("http://h:1"), region: Some("r"), ..new("more", "s3://b") };
    add(&file, &all).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("store   = 'x' # here\n\n# The lab's.\n[remotes.lab]"), "{text}");
    let added = "[remotes.more]\nurl = \"s3://b\"\nread_only = true\nendpoint = \"http://h:1\"\nregion = \"r\"\n";
    assert!(text.contains(added) && text.contains("[slurm] # jobs\nqos = 'low'\n"), "{text}");
    remove_remote(&file, "more").unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), ours);
    remove_remote(&file, "lab").unwrap();
    assert!(!std::fs::read_to_string(&file).unwrap().contains("remotes"));
}

#[test]
fn a_comment_that_begins_the_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cwm.toml");
    for (before, after) in [
        ("# The site's.\n[remotes.lab]\nurl = 'x'\n", "# The site's.\n"),
        ("# The site's.\n\n# The lab's.\n[remotes.lab]\nurl = 'x'\n", "# The site's.\n\n"),
        (
            "# The site's.\n[remotes.lab]\nurl = 'x'\n\n[slurm]\nqos = 'low'\n",
            "# The site's.\n\n[slurm]\nqos = 'low'\n",
        ),
        ("store = 'x'\n\n# The lab's.\n[remotes.lab]\nurl = 'x'\n", "store = 'x'\n"),
    ] {
        std::fs::write(&file, before).unwrap();
        remove_remote(&file, "lab").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    }
}

#[test]
fn an_edit_that_would_be_wrong_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cwm.toml");
    let new = |name, url| NewRemote { name, url, read_only: false, endpoint: None, region: None };
    add(&file, &new("lab", "s3://bucket/x")).unwrap();
    let before = std::fs::read_to_string(&file).unwrap();
    for (name, url) in [("lab", "s3://other"), ("Lab", "s3://other"), ("other", "s3://u:p@h"), ("other", "nix://x")] {
        add(&file, &new(name, url)).expect_err(url);
    }
    remove_remote(&file, "nobody").unwrap_err();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    std::fs::write(&file, "store = \n").unwrap();
    assert!(add(&file, &new("a", "s3://b")).unwrap_err().diagnostics.is_some());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "store = \n");
}
