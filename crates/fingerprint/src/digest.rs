//! Hashing a list of fields so that no two lists give the same bytes.

/// BLAKE3 over fields, each preceded by its length in bytes (64 bits, little-endian).
pub(crate) struct Fields(blake3::Hasher);

impl Fields {
    /// A list that says first what kind of thing it describes.
    pub(crate) fn new(kind: &str) -> Self {
        let mut fields = Fields(blake3::Hasher::new());
        // Raised when the rules of this crate change, so that old digests are not taken for new ones.
        fields.text("cwm code fingerprint 1").text(kind);
        fields
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn where_a_field_ends_counts() {
        let digest = |fields: &[&str]| {
            fields.iter().fold(Fields::new("kind"), |mut all, field| {
                all.text(field);
                all
            })
        };
        assert_eq!(digest(&["ab", "c"]).finish(), digest(&["ab", "c"]).finish());
        assert_ne!(digest(&["ab", "c"]).finish(), digest(&["a", "bc"]).finish());
        assert_ne!(digest(&["ab", ""]).finish(), digest(&["ab"]).finish());
    }
}
