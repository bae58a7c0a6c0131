//! Mutated pipelines, lock files and pins: planned or refused with a place and a message, never a panic.
//!
//! `CWM_MUTATIONS=1000000 cargo test --release --no-default-features -p cwm-pipeline mutated -- --nocapture` is a million.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::plan::load;
use cwm_project::lock_file::LockFile;
use cwm_project::pins::{FILE_NAME, Pins};

/// Our own pipelines, and the miniature of the tests, whose stages this registry has.
fn pipelines() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let names = ["small", "paper", "sweep", "lichess", "paper-data"];
        let papers = names.map(|name| format!("pipelines/chess-world-model/{name}.yaml"));
        let own = std::iter::once("pipeline.yaml".to_owned()).chain(papers);
        let own = own.map(|name| fs_err::read_to_string(root.join(name)).expect("a pipeline of ours"));
        // The small one comes most often: there is less around what is wrong.
        std::iter::repeat_n(meaning::MINIATURE.to_owned(), 6).chain(own).collect()
    })
}

const DIGEST: &str = "9f2c1b7d3a5e4f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8";

/// A lock file and the pins of URLs, as cwm writes them.
fn locks() -> [String; 2] {
    let cell =
        |label: &str| format!("\"{label}\": {{\"key\": \"{DIGEST}\", \"outputs\": {{\"out\": \"{DIGEST}\"}}}}\n");
    let pin =
        |url: &str, more: &str| format!("- {{\"url\": \"{url}\", {more}\"sha256\": \"{DIGEST}\", \"bytes\": 17}}\n");
    [
        format!("# results\ncwm-lock: 1\n{}{}", cell("games"), cell("model[size=d32/l1,seed=0]")),
        format!(
            "cwm-sources: 1\npins:\n{}{}",
            pin("https://example.org/a.zst", ""),
            pin("https://example.org/b", "\"first_bytes\": 10, ")
        ),
    ]
}

/// Texts that replace a value or a key.
const LIKELY: &[&str] = &[
    "[]",
    "{}",
    "null",
    "~",
    "&a",
    "*a",
    "<<: *a",
    "!!binary x",
    "|",
    ">-",
    "1e999",
    "0x",
    ".nan",
    "$",
    "${",
    "$seed",
    "${a.b}",
    "$$",
    "'",
    "\"",
    "- - -",
    "? a",
    ": ",
    "{ file: x }",
    "99999999999999999999999999999999999999999999",
    "2GiB",
    "a[b=c]",
    "[a, {b: c}]",
    "stage",
    "command",
    "each",
    "matrix",
    "from",
    "with",
    "run",
    "needs",
    "export",
    "outputs",
    "deps",
    "env",
    "device",
    "vars",
    "retry",
    "limits",
    "keep",
    "games",
    "model",
    "\u{feff}",
    "\u{2028}",
    "é",
    "---",
    "...",
    "%YAML 1.2",
    "\t",
    "#",
    "\r\n",
    "\0",
    "d32/l1",
    "tokens.validation",
    "[size=d32/l1]",
    "-1",
    "0.0",
    "/",
    "..",
    "https://x/",
];

/// One change to a text. Indices are of lines, words or bytes, whatever the change is about.
#[derive(Clone, Debug)]
enum Mutation {
    Byte(Index, u8),
    Remove(Index, u8),
    Insert(Index, u8),
    Double(Index, u8),
    SwapWords(Index, Index),
    ReplaceWord(Index, Index),
    RepeatWord(Index, u16),
    MoveLine(Index, Index),
    DropLine(Index),
    DoubleLine(Index),
    Indent(Index, i8),
    ValueOfLine(Index, Index),
    AppendLine(Index, Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        (index(), 1..40u8).prop_map(|(at, count)| Mutation::Remove(at, count)),
        (index(), any::<u8>()).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        (index(), any::<u8>()).prop_map(|(at, count)| Mutation::Double(at, count)),
        (index(), index()).prop_map(|(a, b)| Mutation::SwapWords(a, b)),
        (index(), index()).prop_map(|(at, word)| Mutation::ReplaceWord(at, word)),
        (index(), 2..300u16).prop_map(|(at, times)| Mutation::RepeatWord(at, times)),
        (index(), index()).prop_map(|(from, to)| Mutation::MoveLine(from, to)),
        index().prop_map(Mutation::DropLine),
        index().prop_map(Mutation::DoubleLine),
        (index(), -4..5i8).prop_map(|(at, by)| Mutation::Indent(at, by)),
        (index(), index()).prop_map(|(at, value)| Mutation::ValueOfLine(at, value)),
        (index(), index(), index()).prop_map(|(at, key, value)| Mutation::AppendLine(at, key, value)),
    ]
}

impl Mutation {
    fn apply(&self, bytes: Vec<u8>) -> Vec<u8> {
        const BYTES: &[u8] = b" \n\t:,[]{}&*!|>'\"%@`$#-.=?~0\x00\xff\xc3";
        let likely = |byte: u8| if byte < 160 { BYTES[byte as usize % BYTES.len()] } else { byte };
        let piece = |bytes: &[u8], at: &Index, count: u8| {
            let start = at.index(bytes.len() + 1);
            start..(start + count as usize).min(bytes.len())
        };
        let mut bytes = bytes;
        match self {
            Mutation::Byte(at, byte) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] = likely(*byte);
            }
            Mutation::Byte(..) => {}
            Mutation::Remove(at, count) => drop(bytes.drain(piece(&bytes, at, *count))),
            Mutation::Insert(at, byte) => bytes.insert(at.index(bytes.len() + 1), likely(*byte)),
            Mutation::Double(at, count) => {
                let range = piece(&bytes, at, *count);
                let copy = bytes[range.clone()].to_vec();
                bytes.splice(range.start..range.start, copy);
            }
            _ => return self.apply_to_text(&String::from_utf8_lossy(&bytes)).into_bytes(),
        }
        bytes
    }

    fn apply_to_text(&self, text: &str) -> String {
        let likely = |index: &Index| LIKELY[index.index(LIKELY.len())];
        // Words with what stands before them, so that all together are the text again.
        let mut words: Vec<String> = text.split_inclusive([' ', ',', ':', '\n', '{', '[']).map(str::to_owned).collect();
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        if words.is_empty() || lines.is_empty() {
            return text.to_owned();
        }
        let (word, line) = (|at: &Index| at.index(words.len()), |at: &Index| at.index(lines.len()));
        match self {
            Mutation::SwapWords(a, b) => {
                let (a, b) = (word(a), word(b));
                words.swap(a, b);
            }
            Mutation::ReplaceWord(at, by) => {
                let at = word(at);
                words[at] = format!("{} ", likely(by));
            }
            Mutation::RepeatWord(at, times) => {
                let at = word(at);
                words[at] = words[at].repeat(*times as usize);
            }
            _ => {
                match self {
                    Mutation::MoveLine(from, to) => {
                        let (from, to) = (line(from), line(to));
                        let moved = lines.remove(from);
                        lines.insert(to.min(lines.len()), moved);
                    }
                    Mutation::DropLine(at) => drop(lines.remove(line(at))),
                    Mutation::DoubleLine(at) => {
                        let at = line(at);
                        lines.insert(at, lines[at].clone());
                    }
                    Mutation::Indent(at, by) => {
                        let at = line(at);
                        let more = " ".repeat(by.unsigned_abs() as usize);
                        let less = lines[at].strip_prefix(&more).unwrap_or(&lines[at]).to_owned();
                        lines[at] = if *by < 0 { less } else { more + &lines[at] };
                    }
                    Mutation::ValueOfLine(at, value) => {
                        let at = line(at);
                        let key = lines[at].split(':').next().unwrap_or_default().trim_end().to_owned();
                        lines[at] = format!("{key}: {}\n", likely(value));
                    }
                    Mutation::AppendLine(at, key, value) => {
                        let at = line(at);
                        let depth = lines[at].len() - lines[at].trim_start().len();
                        let more = format!("{}{}: {}\n", " ".repeat(depth), likely(key), likely(value));
                        lines.insert(at + 1, more);
                    }
                    _ => {}
                }
                return lines.concat();
            }
        }
        words.concat()
    }
}

/// A pipeline that nobody wrote: keys and values where they belong, and whatever stands in them.
fn grown() -> impl Strategy<Value = String> {
    let word = || any::<Index>().prop_map(|index| LIKELY[index.index(LIKELY.len())]);
    let value = prop_oneof![
        4 => word().prop_map(str::to_owned),
        1 => (word(), word()).prop_map(|(a, b)| format!("{{ {a}: {b} }}")),
        1 => (word(), word()).prop_map(|(a, b)| format!("[{a}, {b}]")),
        2 => "[a-e](\\[[a-c]=[0-2]\\])?(\\.[a-z]{1,3})?",
    ];
    let keys =
        ["stage", "from", "with", "matrix", "each", "needs", "deps", "outputs", "env", "device", "retry", "keep"];
    let key = (any::<Index>(), value).prop_map(move |(key, value)| format!("{}: {value}", keys[key.index(keys.len())]));
    let stage = ("[a-e]", prop::collection::vec(key, 0..5))
        .prop_map(|(name, keys)| format!("  {name}: {{ stage: command, with: {{ run: x }}, {} }}\n", keys.join(", ")));
    prop::collection::vec(stage, 0..6)
        .prop_map(|stages| format!("cwm: 1\nvars: {{ seed: 1 }}\nstages:\n{}", stages.concat()))
}

/// Some text of ours or a grown one, changed in some places.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let own = any::<Index>().prop_map(|index| pipelines()[index.index(pipelines().len())].clone());
    let text = prop_oneof![3 => own, 2 => grown()];
    (text, prop::collection::vec(mutation(), 0..6))
        .prop_map(|(text, mutations)| mutations.iter().fold(text.into_bytes(), |bytes, mutation| mutation.apply(bytes)))
}

/// The number of cases of a kind: few, unless `CWM_MUTATIONS` sets more.
fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("CWM_MUTATIONS").ok().map(|text| text.parse().expect("CWM_MUTATIONS is a number"));
    ProptestConfig { cases: asked.unwrap_or(usual), failure_persistence: None, ..ProptestConfig::default() }
}

/// Counts, and prints every hundred thousand.
fn count(counter: &AtomicUsize, what: &str) {
    let done = counter.fetch_add(1, Ordering::Relaxed) + 1;
    if done.is_multiple_of(100_000) {
        println!("{done} {what}");
    }
}

#[test]
fn a_mutated_pipeline_is_planned_or_refused_with_a_place_and_words() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let file = folder.path().join("pipeline.yaml");
    let (all, planned) = (AtomicUsize::new(0), AtomicUsize::new(0));
    proptest!(cases(2_000), |(bytes in mutated())| {
        fs_err::write(&file, &bytes).unwrap();
        count(&all, "mutated pipelines");
        match load(&file, &[], &stages::registry()) {
            Ok(_) => drop(planned.fetch_add(1, Ordering::Relaxed)),
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                let reported = problems.render(true, 80);
                prop_assert!(reported.contains("error") && reported.len() < 200_000, "{} bytes of words", reported.len());
                serde_json::to_string(&problems.reports()).unwrap();
                for problem in problems.iter() {
                    let Some(place) = problem.place else { return Err(TestCaseError::fail(problem.message.clone())) };
                    prop_assert!(!problem.message.is_empty());
                    prop_assert!(place.line >= 1 && place.column >= 1 && place.start <= place.end);
                }
            }
        }
    });
    let (all, planned) = (all.into_inner(), planned.into_inner());
    println!("{all} mutated pipelines: {planned} planned, {} refused in words", all - planned);
    assert!(planned > 0 && planned < all);
}

#[test]
fn a_mutated_lock_file_or_pin_is_read_or_refused_in_words() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let yaml = folder.path().join("pipeline.yaml");
    let (lock, pins) = (LockFile::path_for(&yaml), folder.path().join(FILE_NAME));
    let [lock_text, pin_text] = locks();
    let all = AtomicUsize::new(0);
    let changes = || prop::collection::vec(mutation(), 1..6);
    let change = |text: &str, changes: &[Mutation]| {
        changes.iter().fold(text.as_bytes().to_vec(), |bytes, mutation| mutation.apply(bytes))
    };
    proptest!(cases(2_000), |(of_lock in changes(), of_pins in changes())| {
        count(&all, "mutated lock files and as many pins");
        fs_err::write(&lock, change(&lock_text, &of_lock)).unwrap();
        match LockFile::read(&lock) {
            Ok(read) => {
                prop_assert!(read.problems().iter().all(|warning| warning.place.line >= 1 && !warning.message.is_empty()));
                // What is written of it reads back, without a warning.
                fs_err::write(&lock, read.text()).unwrap();
                let again = LockFile::read(&lock).unwrap();
                prop_assert_eq!(again.cells().collect::<Vec<_>>(), read.cells().collect::<Vec<_>>());
                prop_assert!(again.problems().is_empty(), "{:?}", again.problems());
            }
            Err(error) => prop_assert!(error.to_string().len() > 10),
        }
        fs_err::write(&pins, change(&pin_text, &of_pins)).unwrap();
        if let Err(error) = Pins::for_pipeline(&yaml) {
            let words = error.diagnostics.as_ref().map_or(error.message.clone(), |problems| problems.to_string());
            prop_assert!(words.len() > 10, "{:?}", words);
        }
    });
    println!("{} mutated lock files, and as many pins", all.into_inner());
}
