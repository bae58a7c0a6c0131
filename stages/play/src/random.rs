//! Where the random numbers come from: CPython's Mersenne Twister, one stream for a whole run, or ChaCha, one stream
//! for each game.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::seed::Seed;

/// A source of random integers.
pub trait Random {
    /// The next 32 bits.
    fn next(&mut self) -> u32;

    /// A number from 0 up to but not including `bound` (at least 1), each equally likely, drawn as CPython's
    /// `randrange` draws it: as many of the highest bits as `bound` itself has, until the value is below it. So even
    /// `below(1)` uses up numbers.
    fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0, "nothing is below zero");
        let shift = bound.leading_zeros();
        loop {
            let value = self.next() >> shift;
            if value < bound {
                return value;
            }
        }
    }
}

const STATE: usize = 624;
const SHIFT: usize = 397;

/// MT19937 as CPython seeds it (`golden/README.md` §5).
pub struct MersenneTwister {
    state: [u32; STATE],
    index: usize,
}

impl MersenneTwister {
    /// The generator that `random.Random(seed)` has.
    pub fn new(seed: &Seed) -> Self {
        let key = seed.words();
        let mut state = [0u32; STATE];
        state[0] = 19_650_218;
        for i in 1..STATE {
            state[i] = mix(state[i - 1]).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        let mut twister = MersenneTwister { state, index: 1 };
        for step in 0..STATE.max(key.len()) {
            let j = step % key.len();
            twister.stir(1_664_525, |value| value.wrapping_add(key[j]).wrapping_add(j as u32));
        }
        for _ in 1..STATE {
            let i = twister.index as u32;
            twister.stir(1_566_083_941, |value| value.wrapping_sub(i));
        }
        twister.state[0] = 0x8000_0000;
        twister.index = STATE;
        twister
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

/// The stream of one game: ChaCha with eight rounds, keyed by the seed and what the stream is for, numbered by the
/// game. A game is therefore the same whoever plays it and whenever.
pub struct GameStream(ChaCha8Rng);

impl GameStream {
    /// The stream of game number `game` in a run of `purpose` with `seed`.
    pub fn new(purpose: &str, seed: &Seed, game: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("cwm-play 1 one random stream for each game");
        hasher.update(purpose.as_bytes()).update(b"\0").update(seed.as_str().as_bytes());
        let mut generator = ChaCha8Rng::from_seed(*hasher.finalize().as_bytes());
        generator.set_stream(game);
        GameStream(generator)
    }
}

impl Random for GameStream {
    fn next(&mut self) -> u32 {
        self.0.next_u32()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    #[test]
    fn the_twister_is_cpythons() {
        let Some(text) = golden::read("mt19937.json") else { return };
        let golden: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let numbers = |value: &serde_json::Value| -> Vec<u32> {
            value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect()
        };
        for case in golden["seeds"].as_array().unwrap() {
            let seed = Seed::parse(case["seed"].as_str().unwrap()).unwrap();
            let fresh = || MersenneTwister::new(&seed);
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

    #[test]
    fn a_stream_depends_on_purpose_seed_and_game() {
        let first = |purpose, seed, game| GameStream::new(purpose, &Seed::parse(seed).unwrap(), game).next();
        let base = first("engine", "0", 0);
        assert_eq!(base, first("engine", "0", 0));
        for other in
            [first("uniform", "0", 0), first("engine", "1", 0), first("engine", "-1", 0), first("engine", "0", 1)]
        {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn every_number_below_a_bound_is_drawn_about_equally_often() {
        let mut stream = GameStream::new("test", &Seed::parse("0").unwrap(), 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }
}
