//! The record of one result of an action.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::{FetchResult, Format, Label, Shape, Value};
use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::eviction::EvictionReason;
use cwm_core::files::{Result, from_json};
use cwm_core::{Components, Digest, FileError, Key, OutputDigests, escape_controls, format_time};

/// Version of the format of [`ActionRecord`].
pub const RECORD_FORMAT: u32 = 2;

/// One result of an action.
///
/// # Format, version 1
/// One JSON object in `actions/ab/<key>/<number>-<BLAKE3 of the file>.json`; a key may have several (made on a CPU and
/// on a GPU), counted from `0001`. Fields unknown to this version are ignored; a newer version is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionRecord {
    /// [`RECORD_FORMAT`].
    pub format: u32,
    /// The key of the action.
    pub key: Key,
    /// The pipeline's file name without extension, where it was first made: `paper`.
    pub pipeline: String,
    /// The cell that first made it.
    pub label: Label,
    /// The components of the key: `why` compares these.
    pub components: Components,
    /// The outputs, by name.
    pub outputs: BTreeMap<String, OutputRecord>,
    /// The causes for which it ran, one a line.
    #[serde(default)]
    pub cause: Vec<String>,
    /// The metrics that the stage reported.
    #[serde(serialize_with = "write_metrics", deserialize_with = "read_metrics")]
    pub metrics: BTreeMap<String, f64>,
    /// The downloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetched: Vec<FetchResult>,
    /// The digests of the stage's probe with the code of this result, by name; empty if it has no probe, or had none when this
    /// was recorded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probe: BTreeMap<String, Digest>,
    /// The stage's log.
    pub log: Option<Digest>,
    /// The time, machine, user and cost.
    #[serde(alias = "circumstances")]
    pub run_info: RunInfo,
    /// The reason why its content may be missing, if it may. It is in a file beside the record.
    #[serde(skip)]
    pub evicted: Option<EvictionReason>,
}

/// One output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputRecord {
    /// The digest of the file, or of the folder's [`Manifest`](super::Manifest).
    pub digest: Digest,
    /// Bytes, of all files together.
    pub size: u64,
    /// A file or a folder.
    pub shape: OutputShape,
    /// Its format.
    pub format: Format,
    /// The path of an external file, which is referenced in place.
    #[serde(default, alias = "outside", skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalReference>,
}

/// A file or a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputShape {
    /// A file, with the extension that it gets where people see it (without the dot; may be empty).
    File {
        /// The file name extension, such as `parquet`.
        extension: String,
    },
    /// A folder of files.
    Folder,
}

impl OutputShape {
    /// Returns the extension of a file; empty for a file without one, and for a folder.
    pub fn extension(&self) -> &str {
        match self {
            OutputShape::File { extension } => extension,
            OutputShape::Folder => "",
        }
    }

    /// Returns the name of a file or folder that is called `base`: with its extension, if it has one.
    pub fn file_name(&self, base: &str) -> String {
        match self.extension() {
            "" => base.to_owned(),
            extension => format!("{base}.{extension}"),
        }
    }

    /// Returns true if it is a folder.
    pub fn is_folder(&self) -> bool {
        *self == OutputShape::Folder
    }
}

impl From<Shape> for OutputShape {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::File(extension) | Shape::FileOrFolder(extension) => {
                OutputShape::File { extension: extension.to_owned() }
            }
            Shape::Folder => OutputShape::Folder,
        }
    }
}

/// The path of an external file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalReference {
    /// Absolute, when it was recorded.
    pub path: PathBuf,
    /// The path from the store's folder, so that both can be moved together.
    pub from_store: Option<PathBuf>,
}

/// Time, machine, user and cost of a result. None of it is in the key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The time at which the stage started.
    pub started: Timestamp,
    /// Seconds from start to end.
    pub wall_seconds: f64,
    /// Seconds of CPU in the stage's own code.
    pub user_seconds: f64,
    /// Seconds of CPU in the kernel on its behalf.
    pub system_seconds: f64,
    /// Most memory that its process held at once.
    pub peak_memory_bytes: u64,
    /// The machine.
    pub machine: HostInfo,
    /// Accelerators that it had; empty means none.
    pub devices: Vec<String>,
    /// The device that it computed on, if the stage reports it: `cpu`, or a GPU and its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_on: Option<String>,
    /// True if it resumed from a checkpoint: its seconds are then not those of all of the work.
    #[serde(default, alias = "goes_on", skip_serializing_if = "std::ops::Not::not")]
    pub is_resumed: bool,
    /// By output, the files or folders that people gave as its result (`cwm accept --files`); empty if it was computed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub taken_from: BTreeMap<String, PathBuf>,
    /// The user.
    pub user: String,
    /// Version of cwm.
    pub cwm_version: String,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Host name.
    pub host: String,
    /// Cores that a process may use.
    pub cores: usize,
    /// Operating system and architecture: `linux x86_64`.
    pub os: String,
}

impl HostInfo {
    /// Describes this machine.
    pub fn current() -> HostInfo {
        HostInfo {
            host: host_name(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// Returns the name of this host.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl ActionRecord {
    /// Creates a record without outputs, log, cause, metrics, downloads and probe.
    pub fn new(pipeline: String, label: Label, components: Components, run_info: RunInfo) -> ActionRecord {
        ActionRecord {
            format: RECORD_FORMAT,
            key: components.key(),
            pipeline,
            label,
            components,
            outputs: BTreeMap::new(),
            cause: Vec::new(),
            metrics: BTreeMap::new(),
            fetched: Vec::new(),
            probe: BTreeMap::new(),
            log: None,
            run_info,
            evicted: None,
        }
    }

    /// Returns its user, host and time: `ada@host, 2026-11-21 09:20`; of a result that was not computed, `recorded from FILE by
    /// …`.
    pub fn origin(&self) -> String {
        let made = &self.run_info;
        // Records from before they were checked may have control characters.
        let time = format_time(made.started);
        let who = escape_controls(&format!("{}@{}, {time}", made.user, made.machine.host));
        if !self.is_recorded_by_hand() {
            return who;
        }
        let digest_of = |path: &Path| {
            let (folder, name) = (path.parent()?.file_name()?.to_str()?, path.file_name()?.to_str()?);
            format!("{folder}{name}").parse::<Digest>().ok()
        };
        // A path in a store (`objects/ab/cdef…`) means nothing to people.
        let file = |path: &PathBuf| match digest_of(path) {
            Some(digest) => format!("the result {}", digest.short()),
            None => escape_controls(&path.to_string_lossy()),
        };
        let files: Vec<String> = made.taken_from.values().map(file).collect();
        format!("not computed: recorded from {} by {who}", files.join(", "))
    }

    /// Returns true if it cannot be made again from other results: it was fetched, or recorded from a file.
    pub fn is_irreproducible(&self) -> bool {
        !self.fetched.is_empty() || self.is_recorded_by_hand()
    }

    /// Digests of the content that it was made of.
    pub fn input_digests(&self) -> impl Iterator<Item = &Digest> {
        self.components.inputs.values().flatten().map(|(_, digest)| digest)
    }

    /// Returns true if it was recorded from files, and not computed by its stage.
    pub fn is_recorded_by_hand(&self) -> bool {
        !self.run_info.taken_from.is_empty()
    }

    /// Returns the digest of each output, as the lock file has them.
    pub fn output_digests(&self) -> OutputDigests {
        self.outputs.iter().map(|(name, output)| (name.clone(), output.digest)).collect()
    }

    /// Returns the bytes of the record's file.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self)
            .map_err(|error| FileError::io("write the record of", Path::new(&self.label.to_string()))(error.into()))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads `bytes`, which `path` held.
    pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<ActionRecord> {
        from_json(path, bytes, "an action record", RECORD_FORMAT, |record: &ActionRecord| record.format)
    }
}

/// Writes floats as [`Value`] does, which has a form for those without one in JSON.
pub fn write_metrics<S: Serializer>(metrics: &BTreeMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metrics.iter().map(|(name, value)| (name, Value::Float(*value))))
}

fn read_metrics<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let float = |(name, value)| match value {
        Value::Float(value) => Ok((name, value)),
        other => Err(D::Error::custom(format!("metric `{name}` is {}, not a float", other.kind()))),
    };
    BTreeMap::<String, Value>::deserialize(deserializer)?.into_iter().map(float).collect()
}

/// Returns the name of the file of record `number` of a key, whose bytes have this digest.
pub(super) fn record_file_name(number: u32, digest: &Digest) -> String {
    format!("{number:04}-{digest}.json")
}
