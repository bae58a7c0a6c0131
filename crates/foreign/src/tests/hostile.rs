//! Files that somebody made to do harm, and files that were damaged on the way.

use std::io::Write;
use std::path::Path;

use proptest::prelude::*;

use super::archives::{archive, pickle_of};
use super::files::data;
use crate::file::ForeignFile;
use crate::pickle::{Input, MemoryBudget, unpickle};

/// Opens a file with these bytes and reads all its tensors; what is said of it, without its path.
pub fn opened(bytes: &[u8]) -> Result<usize, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let told = |error: crate::error::ForeignError| error.to_string().replace(&file.path().display().to_string(), "it");
    let mut foreign = ForeignFile::open(file.path()).map_err(told)?;
    let groups = foreign.contents().groups.clone();
    let mut read = 0;
    for (name, tensor) in groups.iter().flat_map(|group| &group.tensors) {
        // Callers read only what has the shape that they need.
        let small = |tensor: &&crate::tensor::Tensor| tensor.elements().is_some_and(|elements| elements < 1 << 16);
        if let Some(tensor) = tensor.as_ref().ok().filter(small) {
            let bytes = foreign.read(name, tensor).map_err(told)?;
            assert_eq!(
                Some(bytes.len() as u64),
                tensor.elements().zip(tensor.storage.element.bytes()).map(|(n, b)| n * b)
            );
            read += 1;
        }
    }
    Ok(read)
}

pub fn refused(bytes: &[u8]) -> String {
    opened(bytes).unwrap_err()
}

/// Unpickles these instructions.
fn unpickled(pickle: &[u8]) -> Result<(), String> {
    unpickle(&mut Input::new(pickle), &mut MemoryBudget::default()).map(|_| ()).map_err(|fault| fault.to_string())
}

#[test]
fn nothing_is_executed() {
    // What pickle.dumps(os.system("...")) would be, and every other call: a name, which nobody looks up.
    let pickle = b"\x80\x02cos\nsystem\n(X\x0b\x00\x00\x00touch ownedtR.";
    assert_eq!(unpickled(pickle), Ok(()));
    assert_eq!(opened(&archive(&[("m/data.pkl", pickle)])), Ok(0));
    assert!(!Path::new("owned").exists());
}

#[test]
fn what_is_no_file_of_torch_says_what_it_is() {
    assert_eq!(refused(b""), "it is empty");
    assert_eq!(refused(b"hello, world"), "it is neither a file of torch.save nor a safetensors file");
    assert_eq!(refused(b"\x80\x02K\x01."), "it is a pickle, but not one of torch.save");
    assert!(refused(b"PK\x03\x04").starts_with("it is a zip archive that cannot be read: "));
    assert!(refused(&archive(&[("a.txt", b"x")])).contains("it has no `data.pkl`"));
    assert!(refused(&archive(&[("a/data.pkl", b"x"), ("b/data.pkl", b"x")])).contains("several files `data.pkl`"));
    assert_eq!(opened(&archive(&[("a/data.pkl", b"N."), ("a/mydata.pkl", b"x"), ("mydata.pkl", b"x")])), Ok(0));
    assert!(refused(&archive(&[("a/mydata.pkl", b"x")])).contains("it has no `data.pkl`"));
    assert!(refused(&archive(&[("a/data.pkl", b"x"), ("a/constants.pkl", b"x")])).contains("TorchScript"));
    assert!(refused(&archive(&[("a/data.pkl", b"N."), ("a/byteorder", b"big")])).contains("byte order `big`"));
    assert!(refused(b"\x05\0\0\0\0\0\0\0{....").starts_with("it is no safetensors file: "));
    assert!(refused(b"\xff\xff\xff\x7f\0\0\0\0{}").contains("its header would be 2147483647 bytes long"));
    let message = ForeignFile::open(Path::new("/")).unwrap_err().to_string();
    assert_eq!(message, "/ is a folder; name the file in it");
    let message = ForeignFile::open(Path::new("/dev/zero")).unwrap_err().to_string();
    assert_eq!(message, "/dev/zero is a pipe or a device, and no file");
}

#[test]
fn pickles_that_do_not_end_well_are_refused_with_their_place() {
    let fault = |pickle: &[u8]| unpickled(pickle).unwrap_err();
    assert_eq!(fault(b""), "the file ends within it, at byte 0 of the pickle");
    assert_eq!(fault(b"\x80\x01N."), "it has protocol 1; 2 to 5 are read, at byte 2 of the pickle");
    assert_eq!(fault(b"\x80\x02i"), "0x69 is no instruction that torch.save writes, at byte 3 of the pickle");
    assert_eq!(fault(b"\x80\x02."), "it takes from an empty stack, at byte 3 of the pickle");
    assert_eq!(fault(b"\x80\x02(."), "it takes from an empty stack, at byte 4 of the pickle");
    assert_eq!(fault(b"\x80\x02N)t."), "it takes items up to a mark that it did not set, at byte 5 of the pickle");
    assert_eq!(
        fault(b"\x80\x02h\x07."),
        "it reads an entry of its memo that it did not write, at byte 4 of the pickle"
    );
    assert_eq!(fault(b"\x80\x02}(Nu."), "it sets a key without a value, at byte 6 of the pickle");
    assert_eq!(fault(b"\x80\x02NNa."), "it appends to what is no list, at byte 5 of the pickle");
    assert_eq!(fault(b"\x80\x02NNNs."), "it sets items of what is no dictionary, at byte 6 of the pickle");
    assert_eq!(fault(b"\x80\x04NN\x93."), "a class has no name, at byte 5 of the pickle");
}

#[test]
fn sizes_that_are_only_claimed_take_no_room() {
    for claim in [
        &b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"[..],
        b"\x8b\xff\xff\xff\x7f",
        b"X\xff\xff\xff\x7f",
        b"\x8d\0\0\0\0\0\0\0\x80",
    ] {
        let pickle = [b"\x80\x04", claim, b"N."].concat();
        assert!(unpickled(&pickle).unwrap_err().contains("longer than 67108864 bytes"), "{claim:?}");
    }
    assert!(unpickled(b"\x80\x04X\0\0\0\x03N.").unwrap_err().contains("the file ends within it"));
    let many = [&b"\x80\x02"[..], &[b'N'; (1 << 21) + 1], b"."].concat();
    assert!(unpickled(&many).unwrap_err().contains("it builds more than 2097152 objects"));
    let long = [&b"\x80\x02N"[..], &b"20".repeat(1 << 23), b"."].concat();
    assert!(unpickled(&long).unwrap_err().contains("it has more than 16777216 instructions"));
    let name = [&b"\x80\x02c"[..], &[b'a'; 5000], b"\n"].concat();
    assert!(unpickled(&name).unwrap_err().contains("a name is too long"));
}

#[test]
fn circles_and_depths_are_walked_once() {
    // A list in itself, in a dictionary of itself; and a hundred thousand lists inside each other.
    let circle = b"\x80\x02}q\x00(X\x01\x00\x00\x00a]q\x01h\x01ah\x00aX\x01\x00\x00\x00bh\x00u.";
    assert_eq!(opened(&archive(&[("m/data.pkl", circle)])), Ok(0));
    let deep = [&b"\x80\x02]"[..], &[0x85; 100_000], b"."].concat();
    assert_eq!(opened(&archive(&[("m/data.pkl", &deep)])), Ok(0));
    // A tensor made of itself.
    let odd = b"\x80\x02ctorch._utils\n_rebuild_parameter\nq\x00]q\x01\x85Rq\x02.";
    assert_eq!(opened(&archive(&[("m/data.pkl", odd)])), Ok(0));
    let doubled = [&b"\x80\x02]q\x00"[..], &b"h\x00h\x00\x86q\x00".repeat(60), b"."].concat();
    assert_eq!(opened(&archive(&[("m/data.pkl", &doubled)])), Ok(0));
}

#[test]
fn tensors_are_found_however_deep_they_lie() {
    let inner = pickle_of("FloatStorage", "0", 4, 0, &[2, 2], &[2, 1]);
    let inner = &inner[2..inner.len() - 1];
    for depth in [33, 700, 100_000] {
        // {"a": {"a": … {"w": tensor}}}
        let pickle = [&b"\x80\x02"[..], &b"}X\x01\x00\x00\x00a".repeat(depth), inner, &b"s".repeat(depth), b"."];
        let bytes = archive(&[("m/data.pkl", &pickle.concat()), ("m/data/0", &[0; 16])]);
        assert_eq!(opened(&bytes), Ok(1), "{depth}");
    }
}

#[test]
fn tensors_that_are_not_in_the_file_are_refused_by_name() {
    let with = |pickle: &[u8], storage: &[u8]| refused(&archive(&[("m/data.pkl", pickle), ("m/data/0", storage)]));
    let four = pickle_of("FloatStorage", "0", 4, 0, &[2, 2], &[2, 1]);
    assert_eq!(opened(&archive(&[("m/data.pkl", &four), ("m/data/0", &[0; 16])])), Ok(1));
    assert_eq!(
        with(&four, &[0; 15]),
        "it: its file `data/0` has 15 bytes, but the pickle declares 4 elements of float32"
    );
    let beyond = pickle_of("FloatStorage", "0", 4, 1, &[2, 2], &[2, 1]);
    assert_eq!(with(&beyond, &[0; 16]), "it: `w` reaches beyond its storage of 4 elements");
    let elsewhere = pickle_of("FloatStorage", "../../etc/passwd", 4, 0, &[2, 2], &[2, 1]);
    assert_eq!(with(&elsewhere, &[0; 16]), "it: its file `m/data/../../etc/passwd` is missing");
    let unknown = pickle_of("Float8_e4m3fnStorage", "0", 4, 0, &[2, 2], &[2, 1]);
    assert_eq!(with(&unknown, &[0; 4]), "it: `w` is of an unknown type");
    let large = pickle_of("FloatStorage", "0", i32::MAX, 0, &[2, 2], &[1 << 29, 1]);
    assert_eq!(with(&large, &[0; 16]), "it: `w` has its 4 elements too far apart, over 536870914");
}

#[test]
fn a_damaged_byte_of_an_archive_is_seen() {
    let bytes = std::fs::read(data("archive.pt")).unwrap();
    let find = |needle: &[u8]| bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    // In the pickle, and among the elements of the head, whose storage has key 10.
    for (place, part) in [(find(b"optimizer_state_dict"), "data.pkl"), (find(b"/data/10") + 200, "data/10")] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        let message = refused(&damaged);
        assert!(
            message.contains(&format!("its `{part}` is damaged"))
                || message.contains(&format!("its file `{part}` is damaged")),
            "{message}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_makes_reading_panic(
        legacy: bool,
        changes in prop::collection::vec((0usize..11_000, any::<u8>()), 1..12),
        cut in prop_oneof![3 => Just(0usize), 1 => 0usize..11_000],
    ) {
        let mut bytes = std::fs::read(data(if legacy { "legacy.pt" } else { "archive.pt" })).unwrap();
        for (place, byte) in changes {
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        bytes.truncate(bytes.len().saturating_sub(cut));
        let _ = opened(&bytes);
    }

    #[test]
    fn no_damage_of_a_pickle_makes_reading_it_panic(
        changes in prop::collection::vec((0usize..3_000, any::<u8>()), 1..8),
    ) {
        // Of the older form, whose pickles no check sum guards: what was saved stands at the beginning.
        let mut bytes = std::fs::read(data("legacy.pt")).unwrap();
        for (place, byte) in changes {
            bytes[place] = byte;
        }
        let _ = opened(&bytes);
    }

    #[test]
    fn no_instructions_make_the_machine_panic(
        instructions in prop::collection::vec(prop::sample::select(&b"N)]}(0125atelsubqhRQ.K\x00\x01\x85\x86\x87\x88\x94\x93\x81\x8fX\x02J"[..]), 0..200),
    ) {
        let pickle = [b"\x80\x04", &instructions[..]].concat();
        let _ = unpickled(&pickle);
        let _ = opened(&archive(&[("m/data.pkl", &pickle)]));
    }
}
