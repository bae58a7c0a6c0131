//! The seal of an object: a modification time by which a later change of it shows.
//!
//! When a file is moved to `objects/`, the time of its last change is set to a whole second: the last one whose remainder by
//! [`PERIOD`] is that of the object's digest. A write to the file sets another time, and an object in the place of another has the
//! time of its own digest. A copy that keeps times keeps the seal; without a seal the object is hashed once.

use std::time::{SystemTime, UNIX_EPOCH};

use cwm_core::Digest;

/// Seconds within which a time can be found for every digest: less than a day, so that programs which delete files that nobody
/// changed for weeks see an object as young as it is.
const PERIOD: u64 = 1 << 16;

/// Returns the remainder by [`PERIOD`] of every second that is a seal of this digest.
fn seal_second(digest: &Digest) -> u64 {
    u64::from(u16::from_le_bytes([digest.0[0], digest.0[1]]))
}

/// Returns the second since 1970 that is the seal of this digest, if its object is stored `now`.
pub(super) fn second_of(digest: &Digest, now: SystemTime) -> u64 {
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()).max(PERIOD);
    let back = (now % PERIOD + PERIOD - seal_second(digest)) % PERIOD;
    now - back
}

/// Returns true if a modification time, in nanoseconds since 1970, is a seal of this digest.
pub(super) fn has_valid_seal(digest: &Digest, mtime_ns: i64) -> bool {
    let (second, rest) = (mtime_ns.div_euclid(1_000_000_000), mtime_ns.rem_euclid(1_000_000_000));
    rest == 0 && second.rem_euclid(PERIOD.cast_signed()).cast_unsigned() == seal_second(digest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_seal_is_of_its_digest_and_of_less_than_a_day_ago(content in ".{0,8}", now in PERIOD * 2..1 << 33) {
            let digest = Digest::of(content.as_bytes());
            let second = second_of(&digest, UNIX_EPOCH + Duration::from_secs(now));
            prop_assert!(second <= now && now < second + PERIOD);
            let sealed = second.cast_signed() * 1_000_000_000;
            prop_assert!(has_valid_seal(&digest, sealed));
            for other in [1, 1_000_000_000, -1, 5_000_000_123] {
                prop_assert!(!has_valid_seal(&digest, sealed + other), "{other} ns away");
            }
        }
    }

    #[test]
    fn a_clock_before_its_time_makes_a_seal_all_the_same() {
        let digest = Digest::of(b"x");
        for now in [UNIX_EPOCH, UNIX_EPOCH - Duration::from_secs(10)] {
            assert!(has_valid_seal(&digest, second_of(&digest, now).cast_signed() * 1_000_000_000));
        }
        assert!(!has_valid_seal(&digest, i64::MIN) && !has_valid_seal(&digest, i64::MAX));
    }
}
