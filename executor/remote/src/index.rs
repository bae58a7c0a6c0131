//! The index of a key: the list of the records that a remote has of it. It replaces a listing, which web servers do not offer.
//!
//! # Format, version 1
//! Text. The first line is `cwm-index 1`; then one line a record, sorted: the digest of its bytes, a space, the digest of its
//! result ([`result_of`]). There is one way to write it, and any other is refused.
//!
//! A record counts once the index names it: the index is written last. A push writes the record first, then lists the folder and
//! writes an index of all that is there, until the index on the remote names all that is listed. If several processes do so at
//! once, the last to write looks after all others have written their records: none is lost.

use std::collections::BTreeMap;

use cwm_core::{Digest, OutputDigests};

/// A longer index is none.
pub const LARGEST: u64 = 1 << 20;

const HEADER: &str = "cwm-index 1";

/// The records of a key: the digest of each record's bytes, with that of its result.
pub type Index = BTreeMap<Digest, Digest>;

/// Returns the text of an index.
pub fn encode(index: &Index) -> String {
    let lines = index.iter().map(|(record, result)| format!("{record} {result}\n"));
    std::iter::once(format!("{HEADER}\n")).chain(lines).collect()
}

/// Reads what [`encode`] wrote; the bytes may come from anywhere. Returns nothing for all other bytes.
pub fn decode(bytes: &[u8]) -> Option<Index> {
    let pair = |line: &str| {
        let (record, result) = line.split_once(' ')?;
        Some((record.parse().ok()?, result.parse().ok()?))
    };
    let index: Index = std::str::from_utf8(bytes).ok()?.lines().skip(1).map(pair).collect::<Option<_>>()?;
    // The first line, too, is written in one way only.
    (encode(&index).as_bytes() == bytes).then_some(index)
}

/// Returns the digest of a result, which is made of the digests of its outputs alone.
pub fn result_of(outputs: &OutputDigests) -> Digest {
    let lines: String = outputs.iter().map(|(name, digest)| format!("{name} {digest}\n")).collect();
    Digest::of(lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_reads_back_and_any_other_text_is_refused() {
        let pair = |n: u8| (Digest::of(&[n]), Digest::of(&[n, n]));
        let index = Index::from([pair(1), pair(2), pair(3)]);
        let text = encode(&index);
        assert_eq!(decode(text.as_bytes()).unwrap(), index);
        assert_eq!(decode(b"cwm-index 1\n").unwrap(), Index::default());
        let twice = format!("{text}{}", text.lines().last().unwrap());
        let upper = text.to_uppercase();
        let cut = &text[..text.len() - 1];
        let newer = text.replace("index 1", "index 2");
        for wrong in ["", "x", "cwm-index 1", &twice, &upper, cut, &newer, "cwm-index 1\nab cd\n"] {
            assert!(decode(wrong.as_bytes()).is_none(), "{wrong}");
        }
        assert!(decode(b"cwm-index 1\n\xff\n").is_none());
    }
}
