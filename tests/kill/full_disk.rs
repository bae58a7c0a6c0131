//! Disks of every size, in steps: what does not fit fails in words, and once there is room the next run does the rest.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::expected::{INPUT, Undisturbed};
use crate::pipelines::Pipeline;
use crate::scene::{Scene, number};

/// A small file system in memory for the life of the guard.
struct Disk(PathBuf);

impl Disk {
    /// Mounts one of `kibibytes` KiB. Prints that the test is skipped and returns `None` if it cannot be mounted.
    fn new(place: &Path, kibibytes: u64) -> Option<Self> {
        let size = format!("size={kibibytes}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(place).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Disk(place.to_owned())),
            _ => {
                println!("skipped: full disks (mounting a small tmpfs needs root)");
                None
            }
        }
    }

    fn grow(&self) -> bool {
        Command::new("mount")
            .args(["-o", "remount,size=64m"])
            .arg(&self.0)
            .status()
            .is_ok_and(|status| status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_run_on_a_full_disk_reports_it_and_continues_when_there_is_space() {
    if !crate::tools(&["flock"]) {
        return;
    }
    let undisturbed = Undisturbed::of(&Pipeline::small()).expect("an undisturbed run");
    // From nothing to more than all of it needs.
    let step = number("CWM_KILL_STEP", 48);
    let (mut full, mut kibibytes) = (0, 4);
    loop {
        let home = Scene::new();
        let Some(disk) = Disk::new(&home.path("busy"), kibibytes) else { return };
        let fits = on_disk(&undisturbed, &disk, &home.path("busy"))
            .unwrap_or_else(|what| panic!("a disk of {kibibytes} KiB: {what}"));
        full += u64::from(!fits);
        if fits {
            break;
        }
        kibibytes += step;
    }
    assert!(full > 0 && kibibytes < 64 << 10, "{full} disks were full, the last of {kibibytes} KiB");
    println!("{full} full disks; all of it fits on {kibibytes} KiB");
}

/// Runs the first file on the disk, then again with more room; returns true if all of the first run fits.
fn on_disk(undisturbed: &Undisturbed, disk: &Disk, place: &Path) -> Result<bool, String> {
    // The commands' own log is not on the disk, since it is no part of the run.
    let scene = Scene::new();
    scene.write_old("input.txt", INPUT);
    let expected = &undisturbed.files[0];
    std::fs::write(scene.path("p.yaml"), &expected.text).map_err(|error| error.to_string())?;
    std::os::unix::fs::symlink(place, scene.store()).map_err(|error| error.to_string())?;
    let first = scene.cwm(&["run", "--json", "p.yaml"]);
    scene.no_strays()?;
    if first.stderr.contains("panicked") || first.stdout.contains("panicked") {
        return Err(first.words());
    }
    let fits = first.code == expected.code && scene.read("p.lock") == expected.lock;
    if !fits && !first.words().contains("No space left") {
        return Err(format!("it does not say that the disk is full: {}", first.words()));
    }
    undisturbed.check(&scene)?;
    if !disk.grow() {
        return Err("the disk does not grow".into());
    }
    let second = scene.cwm(&["run", "--json", "p.yaml"]);
    if second.code != expected.code || scene.read("p.lock") != expected.lock {
        return Err(format!("the next run, with room: {}", second.words()));
    }
    let verified = scene.cwm(&["store", "verify", "-f", "p.yaml"]);
    if verified.code != 0 {
        return Err(format!("`cwm store verify`: {}", verified.words()));
    }
    Ok(fits)
}
