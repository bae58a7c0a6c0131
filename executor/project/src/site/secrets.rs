//! What may be a secret in a site's file, where it must not stand and does so all the same: what is called like one, and what names
//! are known to be none.

use super::address::WHERE_CREDENTIALS_ARE;
use super::read::ALL_KEYS;
use cwm_core::diagnostics::Diagnostic;
use cwm_core::located::{Reader, Word};
use cwm_core::names::nearest;

/// A key whose name holds one of these has a secret for its value; none of cwm's own does.
const WORDS: [&str; 9] = ["secret", "key", "token", "passw", "pwd", "credential", "auth", "sas", "sig"];

/// What names are made of that are shown, beside those that are near to one of cwm's own.
const PLAIN: &str = "access account api auth aws azure bearer bucket cert client container cookie credential credentials gcs \
    google header headers host http https id key keys login name of options pass passphrase passwd password \
    path port prefix private profile proxy pwd s3 sas secret secrets session storage token user username";

/// Reports a key that is not known; of one that is called like a secret, where those come from. A name that may be a secret
/// itself is not repeated.
pub fn unknown_key(reader: &mut Reader<'_>, key: &Word, whose: &str, known: &[&str]) {
    let shows = is_shown(&key.text) || nearest(&key.text, known.iter().copied()).is_some();
    if shows && !is_secret(&key.text) {
        return reader.unknown_key(key, whose, known);
    }
    let message = match shows {
        true => format!("{whose} has no key `{}`", key.text),
        false => format!("{whose} has no such key"),
    };
    reader.report(Diagnostic::at(key.place, message).hint(WHERE_CREDENTIALS_ARE));
}

/// Whether a name is called like a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Whether a name is none itself: made of words that everybody uses.
pub fn is_shown(name: &str) -> bool {
    let known = ALL_KEYS.iter().flat_map(|names| names.iter().copied());
    let is_plain = |part: &str| PLAIN.split(' ').any(|word| word.eq_ignore_ascii_case(part));
    nearest(name, known).is_some() || name.split(['_', '-', '.']).all(is_plain)
}

/// Whether this is a scheme, or looks like one.
pub fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.len() <= 10 && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}
