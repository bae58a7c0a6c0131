//! Damage at random to what lies in a store: bytes, files, links, folders, names, modes, sizes.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

use crate::dice::Dice;
use crate::store_truth::{entries, plain};

/// Everything below a folder but empty shards.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut front = vec![folder.to_owned()];
    while let Some(place) = front.pop() {
        for path in entries(&place) {
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
            let is_shard = path.file_name().is_some_and(|name| name.len() == 2) && entries(&path).is_empty();
            if is_folder {
                front.push(path.clone());
            }
            if !is_shard {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Damages something in the store; what, in words.
pub fn damage(dice: &mut Dice, store: &Path) -> String {
    let all = all_below(store);
    // Each folder of the store alike, however much is in it.
    let first = |path: &Path| {
        path.strip_prefix(store)
            .ok()
            .and_then(|inside| inside.components().next().map(|part| part.as_os_str().to_owned()))
    };
    let top = dice.one_of(&entries(store)).file_name().map(ToOwned::to_owned);
    let of_top: Vec<&PathBuf> = all.iter().filter(|path| first(path) == top).collect();
    let path = (*dice.one_of(if of_top.is_empty() { return "nothing".into() } else { &of_top })).clone();
    let other = dice.one_of(&all).clone();
    // What a link leads to outside of the store is not ours to damage: the run's input, or a file of this machine.
    let inside = fs::canonicalize(store).unwrap_or_default();
    let is_outside = path.is_symlink() && fs::canonicalize(&path).is_ok_and(|real| !real.starts_with(inside));
    let what = if is_outside {
        let _ = fs::remove_file(&path);
        "is gone".into()
    } else if path.is_dir() && !path.is_symlink() {
        a_folder(dice, &path, &other)
    } else {
        a_file(dice, &path, &other)
    };
    format!("{} {what}", path.strip_prefix(store).unwrap_or(&path).display())
}

fn a_folder(dice: &mut Dice, path: &Path, other: &Path) -> String {
    match dice.below(6) {
        0 => {
            let _ = fs::remove_dir_all(path);
            "is gone".into()
        }
        1 => {
            let _ = fs::remove_dir_all(path).and_then(|()| fs::write(path, "a file\n"));
            "is a file".into()
        }
        2 => instead(path, "a pipe", |path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).map_err(Into::into)),
        3 => {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o555));
            "may not be written".into()
        }
        4 => {
            let _ = fs::write(path.join("Foreign"), "who put this here?\n");
            "holds something foreign".into()
        }
        _ => renamed(path, other),
    }
}

fn a_file(dice: &mut Dice, path: &Path, other: &Path) -> String {
    // What an earlier damage left can only go.
    let Ok(bytes) = plain(path) else {
        let _ = fs::remove_file(path);
        return "is gone".into();
    };
    let at = dice.below(bytes.len());
    match dice.below(14) {
        0 | 1 if !bytes.is_empty() => {
            let mut bytes = bytes;
            bytes[at] ^= 1 << dice.below(8);
            written(path, &bytes, &format!("has another bit in byte {at}"))
        }
        2 => written(path, &bytes[..at.min(bytes.len())], &format!("is cut after {at} bytes")),
        3 => written(path, b"", "is empty"),
        4 => written(path, &[&bytes[..], &bytes[..]].concat(), "stands there twice"),
        5 => {
            let theirs = plain(other).unwrap_or_default();
            written(path, &theirs, &format!("has the bytes of {}", other.display()))
        }
        6 => {
            let aside = path.with_extension("aside");
            let _ = fs::rename(path, &aside)
                .and_then(|()| fs::rename(other, path))
                .and_then(|()| fs::rename(&aside, other));
            format!("and {} changed places", other.display())
        }
        7 => {
            let target = *dice.one_of(&["nowhere", "/etc/hostname", ".", "/dev/zero"]);
            instead(path, &format!("a link to {target}"), |path| symlink(target, path))
        }
        8 => instead(path, "a folder", |path| fs::create_dir(path)),
        9 => instead(path, "a pipe", |path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).map_err(Into::into)),
        10 => {
            let mode = *dice.one_of(&[0o000, 0o777, 0o4755]);
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
            format!("has the mode {mode:o}")
        }
        11 => {
            let size = *dice.one_of(&[1 << 20, 1 << 26]);
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o644));
            let _ = File::options().write(true).open(path).and_then(|file| file.set_len(size));
            format!("is {size} bytes long")
        }
        12 => renamed(path, other),
        _ => forged(dice, path, &bytes),
    }
}

/// A record with an absurd value under its right name; of other files, they are removed.
fn forged(dice: &mut Dice, path: &Path, bytes: &[u8]) -> String {
    let number = path.file_stem().and_then(|name| name.to_str()).and_then(|name| name.split_once('-'));
    let (Some((number, _)), Ok(mut value)) = (number, serde_json::from_slice::<Value>(bytes)) else {
        let _ = fs::remove_file(path);
        return "is gone".into();
    };
    let absurd = [
        Value::from(u64::MAX),
        Value::from(-1),
        Value::Null,
        Value::from("x".repeat(5000)),
        Value::from(1e300),
        Value::from("\u{0}\n"),
        serde_json::json!([]),
        serde_json::json!({"a": {"b": []}}),
    ];
    let leaf = change_leaf(dice, &mut value, &absurd);
    let text = value.to_string() + "\n";
    let name = format!("{number}-{}.json", blake3::hash(text.as_bytes()).to_hex());
    let _ = fs::remove_file(path).and_then(|()| fs::write(path.with_file_name(name), text));
    format!("has another value of {leaf}, under its right name")
}

/// Digests stay: whoever writes others under the right name is believed, since nothing vouches for a record but itself.
fn change_leaf(dice: &mut Dice, value: &mut Value, absurd: &[Value]) -> String {
    if let Value::Object(fields) = value
        && !fields.is_empty()
    {
        let name = fields.keys().nth(dice.below(fields.len())).cloned().unwrap_or_default();
        let kept = ["digest", "key", "outputs", "components"].contains(&name.as_str());
        let field = fields.get_mut(&name).unwrap_or_else(|| unreachable!("its own name"));
        if kept || dice.chance(70) {
            return format!("{name}/{}", change_leaf(dice, field, absurd));
        }
        *field = dice.one_of(absurd).clone();
        return name;
    }
    String::new()
}

fn written(path: &Path, bytes: &[u8], what: &str) -> String {
    // A link is followed, as whoever damages an object through a tree does; not to a pipe or a device.
    if plain(path).is_err() {
        return "stays as it is".into();
    }
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o644)).and_then(|()| fs::write(path, bytes));
    what.to_owned()
}

fn instead(path: &Path, what: &str, make: impl FnOnce(&Path) -> std::io::Result<()>) -> String {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    let _ = make(path);
    format!("is {what}")
}

fn renamed(path: &Path, other: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let upper = path.with_file_name(&name);
    let to = if upper == path { other.with_extension("more") } else { upper };
    let _ = fs::rename(path, &to);
    format!("is called {}", to.display())
}
