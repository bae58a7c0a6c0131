//! The rows that classes are compared with.

use std::collections::BTreeMap;

use cwm_random::{MersenneTwister, Random};

/// Rows in strata: pairs are drawn within a stratum, and rows change places within it.
#[derive(Clone, Debug)]
pub struct Population {
    class: Vec<u32>,
    strata: Vec<Vec<u32>>,
    /// The stratum of each row.
    stratum: Vec<u32>,
    /// Rows that share their stratum with a row of another class.
    comparable: Vec<u32>,
}

impl Population {
    /// All rows as one stratum. `class` is the class of each row.
    pub fn all(class: &[u32]) -> Self {
        Population::strata(class, &vec![(); class.len()])
    }

    /// Rows with equal keys, such as their ply and phase, are a stratum.
    pub fn strata<K: Ord>(class: &[u32], keys: &[K]) -> Self {
        let mut by_key: BTreeMap<&K, Vec<u32>> = BTreeMap::new();
        for (row, key) in (0..).zip(keys) {
            by_key.entry(key).or_default().push(row);
        }
        let strata: Vec<Vec<u32>> = by_key.into_values().collect();
        let (mut stratum, mut comparable) = (vec![0; class.len()], Vec::new());
        for (number, rows) in (0..).zip(&strata) {
            rows.iter().for_each(|&row| stratum[row as usize] = number);
            let first = class[rows[0] as usize];
            if rows.iter().any(|&row| class[row as usize] != first) {
                comparable.extend(rows);
            }
        }
        comparable.sort_unstable();
        Population { class: class.to_vec(), strata, stratum, comparable }
    }

    /// Number of strata.
    pub fn len(&self) -> usize {
        self.strata.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.strata.is_empty()
    }

    /// Draws pairs of rows of one stratum and different classes: the first uniformly among the rows that have such a partner, the
    /// second uniformly among its partners. None where no row has a partner.
    pub fn pairs(&self, count: usize, seed: u128) -> Vec<[u32; 2]> {
        if self.comparable.is_empty() {
            return Vec::new();
        }
        let mut draws = MersenneTwister::from_integer(seed);
        let mut pairs = Vec::with_capacity(count);
        while pairs.len() < count {
            let first = self.comparable[draws.below(self.comparable.len() as u32) as usize];
            let rows = &self.strata[self.stratum[first as usize] as usize];
            let second = loop {
                let second = rows[draws.below(rows.len() as u32) as usize];
                if self.class[second as usize] != self.class[first as usize] {
                    break second;
                }
            };
            pairs.push([first, second]);
        }
        pairs
    }

    /// A random order in which rows change places within their strata: the row at each place.
    pub fn shuffled(&self, seed: u128) -> Vec<u32> {
        let mut draws = MersenneTwister::from_integer(seed);
        let mut order = vec![0; self.class.len()];
        for rows in &self.strata {
            let mut moved = rows.clone();
            draws.shuffle(&mut moved);
            for (&place, &row) in rows.iter().zip(&moved) {
                order[place as usize] = row;
            }
        }
        order
    }
}
