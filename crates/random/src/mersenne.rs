//! CPython's Mersenne Twister.

use crate::Random;

const STATE: usize = 624;
const SHIFT: usize = 397;

/// MT19937 as CPython seeds it (`golden/README.md` §5).
#[derive(Clone, Debug)]
pub struct MersenneTwister {
    state: [u32; STATE],
    index: usize,
}

impl MersenneTwister {
    /// The generator that `random.Random(seed)` has. `words` are the seed's absolute value in words of 32 bits, least
    /// significant first, without zeros at the end but for the one word of 0.
    ///
    /// # Panics
    /// There are no words.
    pub fn new(words: &[u32]) -> Self {
        assert!(!words.is_empty(), "even zero has a word");
        let mut state = [0u32; STATE];
        state[0] = 19_650_218;
        for i in 1..STATE {
            state[i] = mix(state[i - 1]).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        let mut twister = MersenneTwister { state, index: 1 };
        for step in 0..STATE.max(words.len()) {
            let j = step % words.len();
            twister.stir(1_664_525, |value| value.wrapping_add(words[j]).wrapping_add(j as u32));
        }
        for _ in 1..STATE {
            let i = twister.index as u32;
            twister.stir(1_566_083_941, |value| value.wrapping_sub(i));
        }
        twister.state[0] = 0x8000_0000;
        twister.index = STATE;
        twister
    }

    /// The generator that `random.Random(seed)` has for a seed that is not negative.
    pub fn from_integer(seed: u128) -> Self {
        let words: Vec<u32> = (0..4).map(|word| (seed >> (32 * word)) as u32).collect();
        let used = words.iter().rposition(|word| *word != 0).map_or(1, |last| last + 1);
        MersenneTwister::new(&words[..used])
    }

    /// One step of seeding by an array: stirs the word at the index and goes on to the next, round the end.
    fn stir(&mut self, factor: u32, add: impl Fn(u32) -> u32) {
        let i = self.index;
        self.state[i] = add(self.state[i] ^ mix(self.state[i - 1]).wrapping_mul(factor));
        self.index += 1;
        if self.index == STATE {
            self.state[0] = self.state[STATE - 1];
            self.index = 1;
        }
    }

    fn refill(&mut self) {
        for i in 0..STATE {
            let word = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % STATE] & 0x7fff_ffff);
            let twist = if word & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + SHIFT) % STATE] ^ (word >> 1) ^ twist;
        }
        self.index = 0;
    }
}

fn mix(word: u32) -> u32 {
    word ^ (word >> 30)
}

impl Random for MersenneTwister {
    fn next(&mut self) -> u32 {
        if self.index == STATE {
            self.refill();
        }
        let mut word = self.state[self.index];
        self.index += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// The authors' numbers, or a line that says why the test is skipped.
    fn golden() -> Option<Vec<u8>> {
        let shared = std::env::var_os("CWM_SHARED").map_or_else(
            || PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared"),
            PathBuf::from,
        );
        let found = std::fs::read(shared.join("golden/mt19937.json")).ok();
        if found.is_none() {
            println!("skipped: golden/mt19937.json is not there (CWM_SHARED names the folder that holds golden/)");
        }
        found
    }

    #[test]
    fn the_twister_is_cpythons() {
        let Some(text) = golden() else { return };
        let golden: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let numbers = |value: &serde_json::Value| -> Vec<u32> {
            value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect()
        };
        for case in golden["seeds"].as_array().unwrap() {
            let seed = case["seed"].as_str().unwrap().parse().unwrap();
            let fresh = || MersenneTwister::from_integer(seed);
            assert_eq!(fresh().state[..5], numbers(&case["state_first_5_words_after_seeding"])[..]);
            assert_eq!(fresh().index as u64, case["state_index_after_seeding"].as_u64().unwrap());
            let mut twister = fresh();
            for expected in numbers(&case["getrandbits32"]) {
                assert_eq!(twister.next(), expected);
            }
            for (bound, list) in case["randrange"].as_object().unwrap() {
                let mut twister = fresh();
                for expected in numbers(list) {
                    assert_eq!(twister.below(bound.parse().unwrap()), expected, "randrange({bound})");
                }
            }
            let mut twister = fresh();
            for pair in case["randrange_mixed_one_stream"].as_array().unwrap() {
                let pair = numbers(pair);
                assert_eq!(twister.below(pair[0]), pair[1], "randrange({})", pair[0]);
            }
        }
    }

    /// Numbers of CPython 3, for seeds of one, two and three words.
    #[test]
    fn shuffle_is_cpythons() {
        for (seed, expected) in SHUFFLED {
            let mut items: Vec<u32> = (0..12).collect();
            MersenneTwister::from_integer(seed).shuffle(&mut items);
            assert_eq!(items, expected, "{seed}");
        }
    }

    /// `list(range(12))` after `random.Random(seed).shuffle`.
    const SHUFFLED: [(u128, [u32; 12]); 7] = [
        (0, [1, 9, 8, 5, 10, 2, 3, 7, 4, 0, 11, 6]),
        (1, [7, 11, 0, 8, 5, 6, 3, 10, 4, 1, 9, 2]),
        (1009, [11, 3, 10, 5, 4, 8, 6, 9, 1, 7, 0, 2]),
        (4294967295, [0, 6, 1, 5, 8, 2, 7, 4, 11, 3, 9, 10]),
        (4294967296, [11, 10, 7, 3, 9, 2, 4, 8, 0, 6, 5, 1]),
        (9223372036854782871, [1, 2, 0, 3, 10, 4, 11, 8, 5, 6, 7, 9]),
        (18446744073709551619, [4, 5, 10, 9, 6, 8, 2, 3, 0, 11, 1, 7]),
    ];
}
