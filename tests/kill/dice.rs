//! Random numbers that are the same again for the same seed.

/// SplitMix64: one word of state, and good enough to choose instants and pipelines.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    /// The dice of throw `number` under a seed; neighbours have nothing in common.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut dice = Dice(seed ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93));
        dice.next();
        dice
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Returns true in `percent` of cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn one_of<'a, T>(&mut self, several: &'a [T]) -> &'a T {
        &several[self.below(several.len())]
    }
}
