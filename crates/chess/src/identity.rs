//! The name of a game and the bucket that it falls into.

use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};
use sha2::Sha256;

/// The key of the games' ids, ready for use. What it was made from cannot be read back.
#[derive(Clone)]
pub struct IdKey(Hmac<Sha256>);

impl IdKey {
    /// The key whose text is `text`, white space at both ends aside. The text is used as it stands, even if it looks
    /// like hexadecimal digits.
    pub fn new(text: &str) -> Self {
        match Hmac::new_from_slice(text.trim().as_bytes()) {
            Ok(keyed) => IdKey(keyed),
            Err(_) => unreachable!("HMAC takes keys of any length"),
        }
    }

    /// Appends the id of the game played at `site` to `out`: `cwm_` and the first 24 hexadecimal digits of
    /// HMAC-SHA256(key, site), white space around the site aside.
    pub fn write_id(&self, site: &str, out: &mut String) {
        let mut keyed = self.0.clone();
        keyed.update(site.trim().as_bytes());
        let digest = keyed.finalize().into_bytes();
        out.push_str("cwm_");
        for byte in &digest[..12] {
            for digit in [byte >> 4, byte & 15] {
                out.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
            }
        }
    }

    /// Returns the id of the game played at `site`.
    pub fn id(&self, site: &str) -> String {
        let mut id = String::with_capacity(28);
        self.write_id(site, &mut id);
        id
    }
}

/// The bucket of a game: the first eight bytes of MD5(id), little-endian, modulo `buckets` (at least 1).
pub fn bucket(id: &str, buckets: u64) -> u64 {
    let digest: [u8; 16] = Md5::digest(id.as_bytes()).into();
    let [first, ..] = digest.as_chunks::<8>().0 else { unreachable!("sixteen bytes hold eight") };
    u64::from_le_bytes(*first) % buckets.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_an_hmac_by_the_standard() {
        // RFC 4231, test case 2: key "Jefe".
        let key = IdKey::new(" Jefe\n");
        assert_eq!(key.id("what do ya want for nothing?"), "cwm_5bdcc146bf60754e6a042426");
        assert_eq!(key.id("  what do ya want for nothing? "), "cwm_5bdcc146bf60754e6a042426");
    }

    #[test]
    fn a_bucket_is_the_low_half_of_an_md5() {
        // MD5("") = d41d8cd98f00b204e9800998ecf8427e; its first eight bytes backwards are 04b2008fd98c1dd4.
        assert_eq!(bucket("", u64::MAX), 0x04b2_008f_d98c_1dd4);
        assert_eq!(bucket("", 10_000), 0x04b2_008f_d98c_1dd4 % 10_000);
        assert_eq!(bucket("anything", 1), 0);
    }
}
