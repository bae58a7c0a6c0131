//! The index of a key: the list of the records that a remote has of it. It replaces a listing, which web servers do not offer.
//!
//! # Format, version 1
//! Text. The first line is `cwm-index 1`; then one line a record, sorted: the digest of its bytes, a space, the digest of its
//! result ([`result_of`]). There is one way to write it, and any other is refused.
//!
//! A record counts once the index names it: the index is written last. A push writes the record first, then lists the folder and
//! writes an index of all that is there, until the index on the remote names all that is listed. If several processes do so at once,
//! the last to write looks after all others have written their records: none is lost.

use std::collections::BTreeMap;

use cwm_core::Digest;

/// A longer index is none.
pub const LARGEST: u64 = 1 << 20;

const HEADER: &str = "cwm-index 1";

/// The records of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The digest of each record's bytes, with that of its result.
    pub records: BTreeMap<Digest, Digest>,
}

impl Index {
    /// Returns the text of the index.
    pub fn encode(&self) -> String {
        let lines = self.records.iter().map(|(record, result)| format!("{record} {result}\n"));
        std::iter::once(format!("{HEADER}\n")).chain(lines).collect()
    }

    /// Reads what [`Index::encode`] wrote; the bytes may come from anywhere.
    ///
    /// # Errors
    /// The fault, in words.
    pub fn decode(bytes: &[u8]) -> Result<Index, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "is not text".to_owned())?;
        let mut lines = text.lines();
        match lines.next() {
            Some(HEADER) => {}
            Some(line) if line.starts_with("cwm-index ") => return Err("is of a newer cwm".to_owned()),
            _ => return Err("is not the index of a key".to_owned()),
        }
        let pair = |line: &str| {
            let (record, result) = line.split_once(' ')?;
            Some((record.parse().ok()?, result.parse().ok()?))
        };
        let records = lines.map(pair).collect::<Option<_>>();
        let index = Index { records: records.ok_or("has a line that is not two digests")? };
        if index.encode().as_bytes() == bytes {
            Ok(index)
        } else {
            Err("is not written in the one canonical way".to_owned())
        }
    }

    /// Returns true if some record has this result.
    pub fn has_result(&self, result: &Digest) -> bool {
        self.records.values().any(|other| other == result)
    }
}

/// Returns the digest of a result, which is made of the digests of its outputs alone.
pub fn result_of(outputs: &BTreeMap<String, Digest>) -> Digest {
    let lines: String = outputs.iter().map(|(name, digest)| format!("{name} {digest}\n")).collect();
    Digest::of(lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_reads_back_and_any_other_text_is_refused() {
        let pair = |n: u8| (Digest::of(&[n]), Digest::of(&[n, n]));
        let index = Index { records: [pair(1), pair(2), pair(3)].into() };
        let text = index.encode();
        assert_eq!(Index::decode(text.as_bytes()).unwrap(), index);
        assert_eq!(Index::decode(b"cwm-index 1\n").unwrap(), Index::default());
        let twice = format!("{text}{}", text.lines().last().unwrap());
        let upper = text.to_uppercase();
        let cut = &text[..text.len() - 1];
        let newer = text.replace("index 1", "index 2");
        for wrong in ["", "x", "cwm-index 1", &twice, &upper, cut, &newer, "cwm-index 1\nab cd\n"] {
            assert!(Index::decode(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(Index::decode(b"cwm-index 1\n\xff\n").is_err());
    }
}
