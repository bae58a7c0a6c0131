//! Pushes to a folder that are killed while a file goes there: what they leave is bounded and used up.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::{Lab, sound, well};
use crate::context::Context;

/// A file that takes a while to be copied.
const LARGE: &str =
    "cwm: 1\nstages:\n  large: { stage: command, with: { run: 'head -c 64000000 /dev/zero > \"$out\"' } }\n";
const SIZE: u64 = 64_000_000;

fn person(lab: &Lab) -> Context {
    let context = lab.person();
    context.write("pipeline.yaml", LARGE);
    context
}

/// Returns the bytes of its output, and the path of their partial upload on the remote.
fn large(lab: &Lab, context: &Context) -> (Vec<u8>, PathBuf) {
    let bytes = context.output("large").into_bytes();
    let hex = blake3::hash(&bytes).to_hex().to_string();
    (bytes, lab.remote().join("objects").join(&hex[..2]).join(format!(".cwm-part-{hex}")))
}

/// Initializes a remote, with the folder in which a part is.
fn begin(lab: &Lab, part: &Path) {
    fs::create_dir_all(part.parent().expect("a folder")).expect("made");
    fs::write(lab.remote().join("format"), "1\n").expect("written");
}

/// Kills a push once a part of the file is there; returns true if that was soon enough.
fn is_killed(lab: &Lab, context: &Context) -> bool {
    let before = parts(lab);
    let mut push = context.command(&["push"]).stderr(Stdio::null()).spawn().expect("cwm starts");
    while push.try_wait().expect("a child").is_none() {
        if parts(lab) > before {
            push.kill().expect("it ends");
            return push.wait().expect("an end").code().is_none() && !lab.files("/.cwm-").is_empty();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

/// Returns the number of bytes of partial uploads on the remote.
fn parts(lab: &Lab) -> u64 {
    if !lab.remote().join("objects").is_dir() {
        return 0;
    }
    lab.files("/objects/")
        .iter()
        .filter(|file| file.display().to_string().contains("/.cwm-"))
        .map(|file| fs::metadata(file).map_or(0, |file| file.len()))
        .sum()
}

#[test]
fn the_partial_upload_of_a_killed_push_is_used_and_removed() {
    let lab = Lab::new();
    let (ada, ben) = (person(&lab), person(&lab));
    ada.run(&[]).ran_just(&["large"]);
    let (_, part) = large(&lab, &ada);
    let killed = (0..10).filter(|_| is_killed(&lab, &ada)).count();
    let left = lab.files("/objects/").into_iter().filter(|file| file.display().to_string().contains("/.cwm-"));
    assert!(left.count() <= 1, "{:?}", lab.files("/.cwm-"));
    println!("{killed} pushes were killed in the middle");
    let begun = fs::metadata(&part).ok().map(|part| part.ino());
    well(ada.cwm(&["push"]));
    assert_eq!(lab.files("/.cwm-"), Vec::<PathBuf>::new());
    let there = lab.files("/objects/").into_iter().map(|file| fs::metadata(file).unwrap());
    let there = there.filter(|file| file.len() == SIZE).map(|file| file.ino()).next().expect("the file");
    assert!(begun.is_none_or(|begun| begun == there), "it began anew");
    well(ben.cwm(&["pull"]));
    sound(&ben);
}

#[test]
fn a_part_with_other_bytes_or_of_another_kind_is_not_trusted() {
    let ada = person(&Lab::new());
    ada.run(&[]).ran_just(&["large"]);
    for case in ["wrong beginning", "wrong end", "longer", "read-only", "link", "names two", "folder"] {
        let lab = Lab::new();
        ada.write("cwm.toml", &format!("[remotes.lab]\nurl = '{}'\n", lab.remote().display()));
        let (bytes, part) = large(&lab, &ada);
        begin(&lab, &part);
        let mut left = bytes[..5_000_000].to_vec();
        let elsewhere = lab.folder.path().join("elsewhere");
        match case {
            "wrong beginning" => left[0] ^= 1,
            "wrong end" => left[4_999_999] ^= 1,
            "longer" => left = [&bytes[..], b"more"].concat(),
            _ => {}
        }
        match case {
            "link" | "names two" => {
                fs::write(&elsewhere, "precious").unwrap();
                let made = match case {
                    "link" => std::os::unix::fs::symlink(&elsewhere, &part),
                    _ => fs::hard_link(&elsewhere, &part),
                };
                made.unwrap();
            }
            "folder" => fs::create_dir(&part).unwrap(),
            _ => fs::write(&part, &left).unwrap(),
        }
        if case == "read-only" {
            let mut permissions = fs::metadata(&part).unwrap().permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&part, permissions).unwrap();
        }
        well(ada.cwm(&["push"]));
        let place = part.with_file_name(&part.file_name().unwrap().to_str().unwrap()[".cwm-part-".len() + 2..]);
        assert!(fs::read(&place).unwrap() == bytes, "{case}");
        if elsewhere.exists() {
            assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious", "{case}");
        } else {
            assert_eq!(lab.files("/.cwm-"), Vec::<PathBuf>::new(), "{case}");
        }
    }
}

/// A process with a partial download does not keep others from the same content, and loses nothing.
#[test]
fn a_partial_upload_locked_by_another_process_is_left_alone() {
    let lab = Lab::new();
    let ada = person(&lab);
    ada.run(&[]).ran_just(&["large"]);
    let (bytes, part) = large(&lab, &ada);
    begin(&lab, &part);
    fs::write(&part, &bytes[..1000]).unwrap();
    let held = fs::File::open(&part).unwrap();
    held.lock().unwrap();
    well(ada.cwm(&["push"]));
    let place = part.with_file_name(&part.file_name().unwrap().to_str().unwrap()[".cwm-part-".len() + 2..]);
    assert!(fs::read(&place).unwrap() == bytes && fs::read(&part).unwrap() == bytes[..1000]);
    assert_eq!(lab.files("/.cwm-"), [part]);
}
