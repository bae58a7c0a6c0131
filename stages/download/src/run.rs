//! The stage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::{
    Context, ExternalSource, Failure, FetchRequest, FetchResult, Format, Input, Origin, Output, ParameterError,
    ParameterSpec, Parameters, Stage, Values, Work,
};
use cwm_web::{Settings, agent};

use crate::config::{self, Config, SourceItem, Sources};
use crate::expectation::Expectation;
use crate::{fetch, local, published};

/// The stage `download`: gets files of games from URLs, or refers to one that is here.
pub struct Download;

impl Stage for Download {
    fn kind(&self) -> &'static str {
        "download"
    }

    fn description(&self) -> &'static str {
        "Gets files, such as those of games, from the network, or refers to one that is here, and checks their sums"
    }

    fn inputs(&self) -> Vec<Input> {
        Vec::new()
    }

    fn outputs(&self) -> Vec<Output> {
        let doc = "The file, byte for byte; of a list of sources, a folder of the files in their order";
        vec![Output::file_or_folder("pgn", Format::PGN, "pgn.zst", doc)]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        config::validate(values)
    }

    fn external_sources(&self, values: &Values) -> Option<Vec<ExternalSource>> {
        let wanted = Config::read(values).and_then(|config| config.sources());
        // With faults it never runs.
        Some(wanted.map(|wanted| wanted.external_sources()).unwrap_or_default())
    }

    fn work(&self, values: &Values, _inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let wanted = Config::read(values).and_then(|config| config.sources()).ok()?;
        let size = |item: &SourceItem| match &item.from {
            Origin::File { path, first_bytes } => {
                let found = std::fs::metadata(path).ok().filter(|found| found.is_file())?.len();
                Some(first_bytes.map_or(found, |most| found.min(most)))
            }
            Origin::Url(fetch) => fetch.first_bytes,
        };
        let bytes = wanted.items().iter().map(size).sum::<Option<u64>>()? as f64;
        let is_here = wanted.items().iter().all(|item| matches!(item.from, Origin::File { .. }));
        let group = if is_here { "files" } else { "network" };
        Some(Work { bytes: [("pgn".to_owned(), bytes)].into(), ..Work::new(group.to_owned(), bytes) })
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run(context, &Settings::default(), CHECKPOINT_BYTES)
    }
}

/// Number of bytes after which a file is synced to the disk.
const CHECKPOINT_BYTES: u64 = 16 << 20;

/// Runs the stage with the limits of `settings`, and syncs a file after each `checkpoint` bytes.
pub(crate) fn run(context: &Context, settings: &Settings, checkpoint: u64) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let wanted = config
        .sources()
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    if let (Some(_), Some(month)) = (&config.source, &config.month) {
        context.log(format!("`source` is given, so the month {month} is not downloaded"));
    }
    if let Sources::One(SourceItem { from: Origin::File { path, first_bytes: None }, .. }) = &wanted {
        let expected = Expectation::for_item(context, &wanted.items()[0])?;
        local::check(context, path, None, expected.as_ref())?;
        context.pass_through("pgn", path);
        return Ok(());
    }
    let files = context.checkpoint_dir().join("files");
    let stamps = context.checkpoint_dir().join("stamps");
    for folder in [&files, &stamps] {
        std::fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, error))?;
    }
    let count = wanted.items().len();
    let mut total = 0;
    for (number, item) in wanted.items().iter().enumerate() {
        if count > 1 {
            context.note(format!("file {} of {count}: {}", number + 1, described(item)));
        }
        let place =
            DownloadPaths { file: files.join(item.name(number)), stamp: stamps.join(format!("{number:05}.json")) };
        total += copy_or_fetch(context, settings, checkpoint, item, &place)?;
    }
    context.metric("bytes", total as f64);
    match &wanted {
        Sources::One(item) => context.pass_through("pgn", &files.join(item.name(0))),
        Sources::Many(_) => context.pass_through("pgn", &files),
    }
    Ok(())
}

/// Paths of a file's bytes and of its progress.
pub(crate) struct DownloadPaths {
    /// The bytes.
    pub file: PathBuf,
    /// The record of their origin and number.
    pub stamp: PathBuf,
}

fn described(item: &SourceItem) -> String {
    match &item.from {
        Origin::File { path, .. } => path.display().to_string(),
        Origin::Url(fetch) => fetch.to_string(),
    }
}

/// Copies or fetches one item to its place; returns its bytes.
fn copy_or_fetch(
    context: &Context,
    settings: &Settings,
    checkpoint: u64,
    item: &SourceItem,
    place: &DownloadPaths,
) -> Result<u64, Failure> {
    let mut expected = Expectation::for_item(context, item)?;
    let fetch = match &item.from {
        Origin::File { path, first_bytes } => return copied(context, path, *first_bytes, expected, place),
        Origin::Url(fetch) => fetch,
    };
    let agent = agent(settings, &fetch.url)?;
    if let (Some(list), None) = (&item.published, &expected) {
        if let FetchRequest { first_bytes: Some(bytes), .. } = fetch {
            context.note(format!(
                "the published sum is that of the whole file, so the first {bytes} bytes are not checked"
            ));
        } else {
            let sum = published::sum(context, &agent, settings, list)?;
            let hint = "run again: the transfer may have failed, or the site may be replacing the file";
            let reason = format!("is published in {}", list.list);
            expected = Some(Expectation { sum, reason, hint: hint.into() });
        }
    }
    let (sum, bytes) = fetch::fetch(context, &agent, fetch, expected.as_ref(), settings, checkpoint, place)?;
    context.progress(bytes, Some(bytes), "bytes");
    context.log(format!("{fetch}: {bytes} bytes with SHA-256 {sum}"));
    context.report_fetched(FetchResult { fetch: fetch.clone(), sha256: sum.to_string(), bytes });
    Ok(bytes)
}

fn copied(
    context: &Context,
    path: &Path,
    first_bytes: Option<u64>,
    expected: Option<Expectation>,
    place: &DownloadPaths,
) -> Result<u64, Failure> {
    let length = local::check(context, path, first_bytes, expected.as_ref())?;
    local::copy_to_output(context, path, length, &place.file)?;
    Ok(length)
}
