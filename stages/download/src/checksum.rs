//! SHA-256 sums as people write them.

use std::fmt;

use sha2::{Digest, Sha256};

/// A SHA-256 sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum([u8; 32]);

impl Checksum {
    /// Reads 64 hexadecimal digits, white space around them allowed.
    ///
    /// # Errors
    /// The fault, as a phrase that fits after `parameter x`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let digits: Vec<u8> = text.trim().chars().map_while(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
        match text.trim().chars().count() {
            64 if digits.len() == 64 => {
                let mut sum = [0; 32];
                for (byte, pair) in sum.iter_mut().zip(digits.chunks_exact(2)) {
                    *byte = pair[0] * 16 + pair[1];
                }
                Ok(Checksum(sum))
            }
            64 => Err(format!("must be 64 hexadecimal digits, but character {} is none", digits.len() + 1)),
            length => Err(format!("must be 64 hexadecimal digits, not {length} characters")),
        }
    }

    /// The sum of what was fed to `hasher`.
    pub fn of(hasher: Sha256) -> Self {
        Checksum(hasher.finalize().into())
    }
}

/// 64 lower-case hexadecimal digits.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of no bytes at all (FIPS 180-4).
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_sum_reads_back_in_lower_case() {
        assert_eq!(Checksum::of(Sha256::new()).to_string(), EMPTY);
        assert_eq!(Checksum::parse(&format!(" {}\n", EMPTY.to_uppercase())).unwrap().to_string(), EMPTY);
    }

    #[test]
    fn what_is_no_sum_is_reported() {
        assert_eq!(Checksum::parse("e3b0").unwrap_err(), "must be 64 hexadecimal digits, not 4 characters");
        assert_eq!(
            Checksum::parse(&EMPTY.replace("98", "9z")).unwrap_err(),
            "must be 64 hexadecimal digits, but character 10 is none"
        );
        assert!(Checksum::parse(&"é".repeat(64)).is_err());
    }
}
