//! What can go wrong with a remote, told apart by what is to be done about it.

use std::error::Error as _;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use super::ranges::NotTheRange;
use cwm_core::files::StoreError;

/// Why something did not come, or did not go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The remote answered: it is not there.
    NotThere,
    /// The remote did not answer, or not to the end: nothing is known.
    NotReached(String),
    /// The remote answered: we may not, or it does not do such things.
    Refused(String),
    /// The remote answered that we may not (401 or 403), and what it said of that.
    Denied {
        /// What it said.
        why: String,
        /// Whether it is a web server, which is asked without credentials.
        is_web: bool,
    },
    /// A mistake in cwm or in a library: what was asked for ended in a panic.
    Broken,
    /// It wants credentials, and there are none: neither in the environment nor in files, and this machine has none of its own.
    NoCredentials(&'static str),
    /// The remote sends files only as a whole, and part of one was asked for.
    OnlyWhole,
    /// What came is not what it should be.
    Bad(String),
    /// This machine's own store.
    Here(String),
}

/// Longest text of a server that people are shown.
const SHOWN: usize = 300;

impl Fault {
    /// Whether the same request may go well in a moment.
    pub fn may_pass(&self) -> bool {
        matches!(self, Fault::NotReached(_))
    }

    /// Whether the remote answered, and will say the same of whatever else it is asked.
    pub fn is_no(&self) -> bool {
        matches!(self, Fault::Refused(_) | Fault::Denied { .. } | Fault::NoCredentials(_))
    }

    /// The same, where `sources` of settings and credentials were read.
    pub fn by(self, sources: &[String]) -> Fault {
        match self {
            Fault::Refused(why) if !sources.is_empty() => {
                Fault::Refused(format!("what stands in {}: {why}", sources.join(", ")))
            }
            fault => fault,
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Fault::NotThere => "is not there".to_owned(),
            Fault::NotReached(why) => format!("could not be reached: {why}"),
            Fault::Refused(why) => format!("refused: {why}"),
            Fault::Denied { why, is_web: true } => format!("refused by the server ({why})"),
            Fault::Denied { why, is_web: false } => {
                format!("refused: the credentials are not right, or do not allow it ({why})")
            }
            Fault::Broken => {
                "could not be asked: a mistake in cwm or in a library, which panicked; standard error says where"
                    .to_owned()
            }
            Fault::NoCredentials(advice) => format!("wants credentials, and none are found: {advice}"),
            Fault::OnlyWhole => format!("refused: {}", NotTheRange::Whole),
            Fault::Bad(what) => what.clone(),
            Fault::Here(why) => why.clone(),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Fault::Here(error.to_string())
    }
}

impl From<object_store::Error> for Fault {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error;
        match NotTheRange::behind(&error) {
            Some(NotTheRange::Whole) => return Fault::OnlyWhole,
            Some(shorter) => return Fault::Bad(shorter.to_string()),
            None => {}
        }
        if let Some(advice) = lacks_credentials(&error) {
            return Fault::NoCredentials(advice);
        }
        let why = reason(&error);
        let no_bucket = ["NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"];
        match &error {
            Error::NotFound { .. } if no_bucket.iter().any(|text| why.contains(text)) => {
                Fault::Refused("there is no such bucket".to_owned())
            }
            Error::NotFound { .. } => Fault::NotThere,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                Fault::Denied { why: said(&why).to_owned(), is_web: false }
            }
            Error::Generic { .. } if is_final(&why) => Fault::Refused(why),
            Error::Generic { .. } | Error::JoinError { .. } => Fault::NotReached(why),
            _ => Fault::Refused(why),
        }
    }
}

/// What to do where credentials were asked of the machine itself, as the last resort, and it has no such service or says no.
/// That the service is busy passes.
fn lacks_credentials(error: &object_store::Error) -> Option<&'static str> {
    let object_store::Error::Generic { store, .. } = error else { return None };
    let whole = error.to_string();
    let asked_machine =
        ["169.254.169.254", "169.254.170.2", "metadata.google.internal"].iter().any(|host| whole.contains(host));
    let is_busy =
        whole.split("status code: ").nth(1).is_some_and(|status| status.starts_with('5') || status.starts_with("429"));
    let without_account = whole.contains("Account must be specified");
    match *store {
        "S3" if asked_machine && !is_busy => Some(
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into ~/.aws/credentials (AWS_SKIP_SIGNATURE=true asks \
             a public bucket without any)",
        ),
        "GCS" if asked_machine && !is_busy => {
            Some("run `gcloud auth application-default login`, or let GOOGLE_APPLICATION_CREDENTIALS name a key file")
        }
        "MicrosoftAzure" if without_account || (asked_machine && !is_busy) => {
            Some("set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY")
        }
        _ => None,
    }
}

/// What the server said, without what was asked and how long it took, which differs from one request to the next.
fn said(why: &str) -> &str {
    why.split_once("status code: ").map_or(why, |(_, said)| said.trim_end_matches([' ', ':']))
}

/// What comes of work that may end in a panic: a fault, so that nobody waits for it without end.
pub async fn unbroken<T>(work: impl Future<Output = T>) -> Result<T, Fault> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|_| Fault::Broken)
}

/// Whether the server understood and said no: any status of 4xx but those that mean "later".
fn is_final(why: &str) -> bool {
    let Some(status) = why.split("status code: ").nth(1) else {
        return ["no credentials", "Missing", "not configured", "Unable to parse", "Invalid"]
            .iter()
            .any(|word| why.contains(word));
    };
    status.starts_with(['3', '4']) && !["408", "409", "425", "429"].iter().any(|later| status.starts_with(later))
}

/// The innermost cause, in one line of bearable length; without what a URL may hold of secrets.
fn reason(error: &object_store::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = inner.to_string();
        cause = inner.source();
    }
    let whole = error.to_string();
    // The innermost word of a broken connection is too short to be understood; that of a server's reply is lost below it.
    let words = if whole.contains("status code") || words.len() < 8 { whole } else { words };
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = cwm_project::site::without_secrets(&code_and_message(&line));
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// A server's reply in XML cut down to its code and its message: what else is in it repeats what was sent, such as the session's
/// token, the name of the key and the signature.
fn code_and_message(line: &str) -> String {
    let Some(at) = ["<?xml", "<Error"].iter().filter_map(|begin| line.find(begin)).min() else {
        return line.to_owned();
    };
    let (before, reply) = line.split_at(at);
    let part = |name: &str| {
        let from = reply.split_once(&format!("<{name}>"))?.1;
        Some(from.split_once(&format!("</{name}>"))?.0.trim())
    };
    let parts: Vec<&str> = ["Code", "Message"].into_iter().filter_map(part).collect();
    format!("{}{}", before, parts.join(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(store: &'static str, words: &str) -> Fault {
        object_store::Error::Generic { store, source: words.to_owned().into() }.into()
    }

    #[test]
    fn whoever_has_no_credentials_is_told_how_to_give_some() {
        let no = "Error performing PUT http://169.254.169.254/latest/api/token in 1ms - ";
        let refused = format!("{no}Server returned non-2xx status code: 403 Forbidden: no");
        let nobody = format!("{no}HTTP error: error sending request: operation timed out");
        for words in [&refused, &nobody] {
            for (store, advice) in [
                ("S3", "AWS_ACCESS_KEY_ID"),
                ("GCS", "application-default login"),
                ("MicrosoftAzure", "AZURE_STORAGE_ACCOUNT_KEY"),
            ] {
                let fault = generic(store, words);
                assert!(matches!(fault, Fault::NoCredentials(_)) && !fault.may_pass(), "{fault:?}");
                assert!(fault.words().contains(advice), "{}", fault.words());
            }
        }
        assert!(generic("MicrosoftAzure", "Account must be specified").words().contains("AZURE_STORAGE_ACCOUNT_NAME"));
        // Its own service is busy, or another server is away.
        let busy = format!("{no}Server returned non-2xx status code: 503 Service Unavailable: later");
        assert!(generic("S3", &busy).may_pass());
        assert!(generic("S3", "Error performing GET http://localhost:1/b - HTTP error: connection refused").may_pass());
    }

    /// Amazon's servers send back the token that they refuse.
    #[test]
    fn what_a_server_repeats_of_credentials_is_not_shown() {
        let refused = "Error performing GET https://b.s3.amazonaws.com/x in 1ms - Server returned non-2xx status code: 403 Forbidden: ";
        for reply in [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>InvalidToken</Code><Message>The provided token is malformed.</Message><Token-0>hunter2</Token-0></Error>",
            "<Error><AWSAccessKeyId>hunter2</AWSAccessKeyId><Code>SignatureDoesNotMatch</Code><Message>It does not match.</Message></Error>",
            "<Error><Token-0>hunter2",
        ] {
            let words = generic("S3", &format!("{refused}{reply}")).words();
            assert!(!words.contains("hunter2") && words.contains("403 Forbidden"), "{words}");
            assert_eq!(
                words.contains(": It does not match.") || words.contains("InvalidToken: The provided"),
                reply.len() > 40
            );
        }
        let gone = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>none</Message></Error>";
        let error = object_store::Error::NotFound { path: "x".to_owned(), source: gone.to_owned().into() };
        assert_eq!(Fault::from(error), Fault::Refused("there is no such bucket".to_owned()));
    }
}
