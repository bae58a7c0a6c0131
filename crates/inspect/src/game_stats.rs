//! Sums over the games of a folder.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::format::{escape_controls, line, percent, with_separators};

/// Results that are listed one by one, at most. A file may hold any text as a result.
const RESULTS: usize = 6;

/// Counts of games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameStats {
    /// Games of each length, by plies.
    lengths: Vec<u64>,
    /// Games by result.
    results: BTreeMap<String, u64>,
    /// One bit for each of the 65,536 numbers of sixteen bits: the moves that occur.
    moves: Moves,
    /// Games that carry their labels.
    labelled: u64,
}

/// A set of numbers of sixteen bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moves(Vec<u64>);

impl Default for Moves {
    fn default() -> Self {
        Moves(vec![0; 1024])
    }
}

/// Totals of a folder of games, as `cwm show` prints them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Games.
    pub games: u64,
    /// Moves of all games.
    pub plies: u64,
    /// Positions of all games, the initial ones included.
    pub positions: u64,
    /// Plies of the shortest game, of the one in the middle (of two the shorter), and of the longest.
    pub shortest: Option<usize>,
    /// See `shortest`.
    pub median: Option<usize>,
    /// See `shortest`.
    pub longest: Option<usize>,
    /// Games by result.
    pub results: BTreeMap<String, u64>,
    /// Different moves: origin, target and promotion.
    pub unique_moves: u64,
    /// Games that carry their labels, since no standard replay gives them.
    pub labelled: u64,
}

impl GameStats {
    /// Counts a game by its moves, each as a number of its own.
    pub fn add(&mut self, moves: impl ExactSizeIterator<Item = u16>, result: &str, labelled: bool) {
        let plies = moves.len();
        if self.lengths.len() <= plies {
            self.lengths.resize(plies + 1, 0);
        }
        self.lengths[plies] += 1;
        match self.results.get_mut(result) {
            Some(games) => *games += 1,
            None => _ = self.results.insert(result.to_owned(), 1),
        }
        for number in moves {
            self.moves.0[usize::from(number >> 6)] |= 1 << (number & 63);
        }
        self.labelled += u64::from(labelled);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &GameStats) {
        if self.lengths.len() < other.lengths.len() {
            self.lengths.resize(other.lengths.len(), 0);
        }
        self.lengths.iter_mut().zip(&other.lengths).for_each(|(games, more)| *games += more);
        for (result, games) in &other.results {
            *self.results.entry(result.clone()).or_default() += games;
        }
        self.moves.0.iter_mut().zip(&other.moves.0).for_each(|(seen, more)| *seen |= more);
        self.labelled += other.labelled;
    }

    /// All of it.
    pub fn totals(self) -> Totals {
        let games: u64 = self.lengths.iter().sum();
        let plies = (0..).zip(&self.lengths).map(|(length, games): (u64, &u64)| length * games).sum();
        // The length of the game at place `place` if they were sorted.
        let at = |place: u64| {
            let mut before = 0;
            self.lengths.iter().position(|games| {
                before += games;
                before > place
            })
        };
        Totals {
            games,
            plies,
            positions: plies + games,
            shortest: at(0),
            median: games.checked_sub(1).and_then(|last| at(last / 2)),
            longest: games.checked_sub(1).and_then(at),
            unique_moves: self.moves.0.iter().map(|word| u64::from(word.count_ones())).sum(),
            labelled: self.labelled,
            results: self.results,
        }
    }
}

impl Totals {
    /// The lines after the one of games.
    pub fn lines(&self) -> Vec<String> {
        let mut lines =
            vec![line("plies", with_separators(self.plies)), line("positions", with_separators(self.positions))];
        if let (Some(shortest), Some(median), Some(longest)) = (self.shortest, self.median, self.longest) {
            let [shortest, median, longest] = [shortest, median, longest].map(|plies| with_separators(plies as u64));
            lines.push(line("length", format!("{shortest} to {longest} plies, median {median}")));
        }
        if !self.results.is_empty() {
            let mut results: Vec<_> = self.results.iter().collect();
            results.sort_by_key(|(result, games)| (std::cmp::Reverse(**games), *result));
            let share_of = |(result, games): &(&String, &u64)| {
                format!(
                    "{} {} ({})",
                    escape_controls(result, 20),
                    with_separators(**games),
                    percent(**games, self.games)
                )
            };
            let mut shown: Vec<String> = results.iter().take(RESULTS).map(share_of).collect();
            if results.len() > RESULTS {
                shown.push(format!("{} others", with_separators((results.len() - RESULTS) as u64)));
            }
            lines.push(line("results", shown.join(", ")));
        }
        lines.push(line("moves", format!("{} different ones", with_separators(self.unique_moves))));
        if self.labelled > 0 {
            lines.push(line("labels", format!("carried by {} of the games", with_separators(self.labelled))));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stats(games: &[(Vec<u16>, String)]) -> GameStats {
        let mut stats = GameStats::default();
        games.iter().for_each(|(moves, result)| stats.add(moves.iter().copied(), result, moves.len() == 3));
        stats
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn totals_are_those_of_the_sorted_list_and_parts_add_up(
            games in proptest::collection::vec((proptest::collection::vec(any::<u16>(), 0..9), "[ab]"), 1..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut parts = stats(&games[..cut.index(games.len())]);
            parts.merge(&stats(&games[cut.index(games.len())..]));
            let totals = parts.totals();
            prop_assert_eq!(&totals, &stats(&games).totals());
            let mut lengths: Vec<usize> = games.iter().map(|game| game.0.len()).collect();
            lengths.sort_unstable();
            prop_assert_eq!(totals.shortest, lengths.first().copied());
            prop_assert_eq!(totals.median, Some(lengths[(lengths.len() - 1) / 2]));
            prop_assert_eq!(totals.longest, lengths.last().copied());
            let plies = lengths.iter().sum::<usize>() as u64;
            prop_assert_eq!((totals.games, totals.plies), (games.len() as u64, plies));
            let moves: std::collections::BTreeSet<u16> = games.iter().flat_map(|game| game.0.clone()).collect();
            prop_assert_eq!(totals.unique_moves, moves.len() as u64);
            prop_assert_eq!(totals.labelled, lengths.iter().filter(|length| **length == 3).count() as u64);
        }
    }

    #[test]
    fn no_games_are_reported_too() {
        let totals = GameStats::default().totals();
        assert_eq!((totals.games, totals.shortest, totals.median, totals.longest), (0, None, None, None));
        assert_eq!(totals.lines(), ["plies       0", "positions   0", "moves       0 different ones"]);
    }
}
