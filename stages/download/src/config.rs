//! Parameters of `download`.

use std::collections::BTreeSet;

use cwm_contract::{
    Bytes, ExternalSource, FetchRequest, OneOrMany, Origin, ParameterError, Parameters, SourceLocation, Type, Values,
    parameters,
};

use crate::checksum::Checksum;
use crate::month::Month;

/// The endings of the names of the files in a folder that are taken.
const ENDINGS: &[&str] = &[".pgn", ".pgn.zst", ".pgn.gz", ".pgn.bz2"];

parameters! {
    /// Parameters of `download`.
    pub struct Config {
        /// A file, or an `http://` or `https://` URL; or a list of these, which gives a folder of files in the order of
        /// the list. A folder stands for the list of the game files in it and in its subfolders. `source` takes
        /// precedence over `month`.
        pub source: Option<OneOrMany<SourceLocation>> = None,
            kind = Type::Optional(Box::new(Type::OneOrMany(Box::new(Type::FileOrUrl { endings: ENDINGS })))),
        /// A month of the standard rated games of Lichess, such as 2025-03, if no `source` is given. It is verified
        /// with the checksum that Lichess publishes.
        pub month: Option<String> = None,
        /// The URL of the folder of the months and their checksums (`sha256sums.txt`).
        pub mirror: String = "https://database.lichess.org/standard".into(),
        /// Take only this many bytes from the beginning of each file, in its compressed form: 100000000 or 100MB.
        pub first_bytes: Option<Bytes> = None,
        /// As `first_bytes`, but for a `month` only; a `source` is taken whole.
        pub month_bytes: Option<Bytes> = None,
        /// The expected SHA-256 of the bytes, as 64 hexadecimal digits; for a list of sources a list of the same
        /// length, with null for an unknown one. With `first_bytes` or `month_bytes` it is that of those bytes. Without
        /// it, the content of the first download is pinned in `sources.lock`.
        pub sha256: OneOrMany<Option<String>> = OneOrMany::One(None),
    }
}

/// The number of files up to which their numbers have five digits, so that they sort by name.
const MAX_SOURCES: usize = 100_000;

/// The sources of a download, well-formed.
#[derive(Clone, Debug, PartialEq)]
pub enum Sources {
    /// One file, which is the output.
    One(SourceItem),
    /// Files of a folder, in order.
    Many(Vec<SourceItem>),
}

/// One file.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceItem {
    /// The origin of the file.
    pub from: Origin,
    /// The sum that it must have, if a parameter gives one.
    pub sum: Option<Checksum>,
    /// The place where its sum is published, if it is.
    pub published: Option<PublishedSum>,
}

/// The place where a sum is published.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedSum {
    /// URL of a list as `sha256sum` writes it.
    pub list: String,
    /// The file's name there.
    pub name: String,
}

impl Sources {
    /// All files in order.
    pub fn items(&self) -> &[SourceItem] {
        match self {
            Sources::One(item) => std::slice::from_ref(item),
            Sources::Many(items) => items,
        }
    }

    /// Returns the sources for the executor.
    pub fn external_sources(&self) -> Vec<ExternalSource> {
        let is_folder = matches!(self, Sources::Many(_));
        let external_source = |(number, item): (usize, &SourceItem)| ExternalSource {
            name: is_folder.then(|| item.name(number)),
            from: item.from.clone(),
            sha256: item.sum.map(|sum| sum.to_string()),
        };
        self.items().iter().enumerate().map(external_source).collect()
    }
}

impl SourceItem {
    /// Its name in a folder: its number in five digits, `-`, and its own name (of a URL, the last part of its path),
    /// with `_` for what is neither letter, digit, `.`, `_` nor `-`, at most 100 characters.
    pub fn name(&self, number: usize) -> String {
        let own = match &self.from {
            Origin::File { path, .. } => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Origin::Url(fetch) => {
                let path = fetch.url.split(['?', '#']).next().unwrap_or_default();
                path.split_once("://")
                    .and_then(|(_, rest)| rest.rsplit_once('/'))
                    .map_or("", |(_, name)| name)
                    .to_owned()
            }
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let own: String = own.chars().map(plain).take(100).collect();
        format!("{number:05}-{}", if own.is_empty() { "file" } else { &own })
    }
}

impl Config {
    /// Returns the files that these parameters name.
    ///
    /// # Errors
    /// They name no source, or a month, a URL or a sum that is none.
    pub fn sources(&self) -> Result<Sources, ParameterError> {
        if self.first_bytes.is_some() && self.month_bytes.is_some() {
            return Err(ParameterError::new("month_bytes", "must not be given together with `first_bytes`"));
        }
        let first_bytes = self.first_bytes.map(|bytes| bytes.0);
        let Some(source) = &self.source else {
            let Some(month) = &self.month else {
                return Err(ParameterError::new(
                    "source",
                    "must be given: a file, a URL or a list of them; or else a `month`",
                ));
            };
            let month = Month::parse(month).map_err(|wrong| ParameterError::new("month", wrong))?;
            let mirror = self.mirror.trim().trim_end_matches('/');
            check_url(mirror).map_err(|wrong| ParameterError::new("mirror", wrong))?;
            let [sum] = &self.sums(1)?[..] else { return Err(ParameterError::new("sha256", "must be one sum")) };
            let first_bytes = self.month_bytes.map(|bytes| bytes.0).or(first_bytes);
            let from = Origin::Url(FetchRequest { url: format!("{mirror}/{}", month.file_name()), first_bytes });
            let published = PublishedSum { list: format!("{mirror}/sha256sums.txt"), name: month.file_name() };
            return Ok(Sources::One(SourceItem { from, sum: *sum, published: Some(published) }));
        };
        let locations = source.as_slice();
        if locations.is_empty() {
            return Err(ParameterError::new("source", "must name at least one file or URL"));
        }
        if locations.len() > MAX_SOURCES {
            let message = format!("must name at most {MAX_SOURCES} files and URLs, not {}", locations.len());
            return Err(ParameterError::new("source", message));
        }
        let sums = self.sums(locations.len())?;
        let item = |(location, sum): (&SourceLocation, &Option<Checksum>)| {
            let from = match location {
                SourceLocation::File(path) => Origin::File { path: path.clone(), first_bytes },
                SourceLocation::Url(url) => {
                    check_url(url.trim()).map_err(|wrong| ParameterError::new("source", wrong))?;
                    Origin::Url(FetchRequest { url: url.trim().to_owned(), first_bytes })
                }
            };
            Ok(SourceItem { from, sum: *sum, published: None })
        };
        let mut items = locations.iter().zip(&sums).map(item).collect::<Result<Vec<_>, ParameterError>>()?;
        if let Some(url) = twice(&items) {
            return Err(ParameterError::new(
                "source",
                format!("names {url} twice, which could give other bytes the second time"),
            ));
        }
        Ok(match (source, items.pop()) {
            (OneOrMany::One(_), Some(item)) => Sources::One(item),
            (_, last) => Sources::Many(items.into_iter().chain(last).collect()),
        })
    }

    /// The expected sums of so many sources.
    fn sums(&self, sources: usize) -> Result<Vec<Option<Checksum>>, ParameterError> {
        let fault = |message: String| ParameterError::new("sha256", message);
        let read = |text: &Option<String>| text.as_ref().map(|text| Checksum::parse(text).map_err(fault)).transpose();
        let sums = self.sha256.as_slice().iter().map(read).collect::<Result<Vec<_>, _>>()?;
        match (&self.sha256, &sums[..]) {
            (OneOrMany::One(_), [None]) => Ok(vec![None; sources]),
            (_, sums) if sums.len() == sources => Ok(sums.to_vec()),
            (_, sums) => Err(fault(format!("must be as many as there are sources: {sources}, not {}", sums.len()))),
        }
    }
}

/// The first URL that is there twice.
fn twice(items: &[SourceItem]) -> Option<&str> {
    let mut seen = BTreeSet::new();
    items.iter().find_map(|item| match &item.from {
        Origin::Url(fetch) => (!seen.insert(fetch)).then_some(fetch.url.as_str()),
        Origin::File { .. } => None,
    })
}

/// Checks that this is a URL that can be fetched.
fn check_url(url: &str) -> Result<(), String> {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" if rest.split(['/', '?', '#']).next().is_some_and(|host| host.contains('@')) => {
            Err("must not hold a user name or a password, which sources.lock and the store would show".into())
        }
        "http" | "https" if credential(rest).is_some() => Err(format!(
            "must not hold a credential (`{}`), which sources.lock and the store would show: fetch it with another \
             program, and give the file or a pipe (`--set NAME=<(curl …)`)",
            credential(rest).unwrap_or_default(),
        )),
        "http" | "https" if !rest.starts_with(['/', '?', '#']) && !rest.is_empty() => Ok(()),
        "http" | "https" => Err(format!("names no host: `{url}`")),
        "file" => Err(format!("must be a path or an http(s) URL: write `{}`", rest.trim_start_matches("localhost"))),
        "" => Err(format!("must begin with http:// or https://, not be `{url}`")),
        other => Err(format!("must be the path of a file or an http(s) URL; {other}:// is not supported")),
    }
}

/// The name of the first part of a URL's query that is a key to what lies there, by its name: signatures of the stores
/// of Amazon, Google and Microsoft, tokens and passwords.
fn credential(rest: &str) -> Option<&str> {
    const NAMES: [&str; 17] = [
        "x-amz-signature",
        "x-amz-credential",
        "x-amz-security-token",
        "x-goog-signature",
        "x-goog-credential",
        "signature",
        "sig",
        "token",
        "access_token",
        "auth_token",
        "private_token",
        "auth",
        "api_key",
        "apikey",
        "password",
        "passwd",
        "secret",
    ];
    let query = rest.split('#').next()?.split_once('?')?.1;
    let names = query.split(['&', ';']).map(|part| part.split('=').next().unwrap_or_default());
    names.into_iter().find(|name| NAMES.contains(&name.to_ascii_lowercase().as_str()))
}

/// Returns the faults of well-typed parameters.
pub fn validate(values: &Values) -> Vec<ParameterError> {
    match Config::read(values).and_then(|config| config.sources()) {
        Ok(_) => Vec::new(),
        Err(fault) => vec![fault],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(from: &str) -> SourceItem {
        let from = match SourceLocation::is_url(from) {
            true => Origin::Url(FetchRequest { url: from.into(), first_bytes: None }),
            false => Origin::File { path: from.into(), first_bytes: None },
        };
        SourceItem { from, sum: None, published: None }
    }

    #[test]
    fn files_of_a_folder_keep_their_order_and_their_names() {
        assert_eq!(item("https://x/a/b.pgn.zst?c=d/e#f").name(3), "00003-b.pgn.zst");
        assert_eq!(item("https://x").name(0), "00000-file");
        assert_eq!(item("https://x/").name(0), "00000-file");
        assert_eq!(item("/tmp/März 1.pgn").name(12), "00012-M_rz_1.pgn");
        assert_eq!(item(&format!("/{}", "x".repeat(300))).name(0).len(), 106);
    }

    #[test]
    fn unsupported_schemes_are_errors() {
        let message = |url: &str| check_url(url).unwrap_err();
        assert_eq!(message("file:///tmp/x.pgn"), "must be a path or an http(s) URL: write `/tmp/x.pgn`");
        assert!(message("ftp://x/y").contains("ftp:// is not supported"));
        assert!(message("http:///x").contains("names no host"));
        let secret = message("https://me:secret@x/y");
        assert!(secret.starts_with("must not hold a user name") && !secret.contains("me:"), "{secret}");
        for url in ["https://x/y?a=1&X-Amz-Signature=hidden", "http://x?token=hidden#z", "http://x/y?sv=1;SIG=hidden"] {
            let secret = message(url);
            assert!(secret.starts_with("must not hold a credential") && !secret.contains("hidden"), "{secret}");
        }
        for url in
            ["https://x/me@y", "https://x/y?design=1", "https://x/token=1", "https://x/y#?token=1", "http://x?a=sig"]
        {
            assert!(check_url(url).is_ok(), "{url}");
        }
        assert!(check_url("HTTPS://x").is_ok());
    }
}
