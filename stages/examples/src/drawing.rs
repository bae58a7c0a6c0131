//! Draws the positions that examples are built of.

use cwm_contract::Failure;
use cwm_game::StreamRng;
use cwm_random::Random;
use cwm_shares::Distribution;

use crate::config::Config;
use crate::positions::Place;

/// The positions of each cell of the wanted distribution, in the order in which they are drawn, and how many examples are wanted.
pub struct Drawing {
    cells: Vec<Cell>,
    /// Positions whose full-move number is not wanted.
    pub outside: u64,
}

struct Cell {
    /// Indices of places, the next one last.
    left: Vec<usize>,
    /// Examples that are wanted still.
    missing: usize,
}

impl Drawing {
    /// Draws from all `places`.
    ///
    /// # Errors
    /// There is no place of a range or side that has a share.
    pub fn new(config: &Config, places: &[Place]) -> Result<Drawing, Failure> {
        let distribution = config.distribution().map_err(|wrong| Failure::input(format!("`fullmoves` {wrong}")))?;
        if config.limit.is_none() && distribution == Distribution::default() {
            let left: Vec<usize> = (0..places.len()).rev().collect();
            return Ok(Drawing { cells: vec![Cell { missing: left.len(), left }], outside: 0 });
        }
        let (mut cells, outside) = by_cell(&distribution, places);
        for (number, cell) in cells.iter_mut().enumerate() {
            // Each builder has draws of its own, so that two builders do not have all their positions in common.
            let purpose = format!("examples {} positions", config.builder);
            StreamRng::new(&purpose, &config.seed.to_string(), number as u64).shuffle(cell);
        }
        let there: Vec<usize> = cells.iter().map(Vec::len).collect();
        let wanted = match config.limit {
            Some(limit) => distribution.counts(usize::try_from(limit).unwrap_or(usize::MAX), &there),
            None => distribution.most(&there),
        };
        let wanted = wanted.map_err(|wrong| {
            Failure::input(wrong).hint("give more positions, or leave out `sides`, or the range of `fullmoves`")
        })?;
        let cells = cells.into_iter().zip(wanted).map(|(left, missing)| Cell { left, missing }).collect();
        Ok(Drawing { cells, outside })
    }

    /// The places that are tried next; none if all examples are there, or no place is left. Each of them must be counted in
    /// [`Drawing::count_example`] if it gives an example.
    pub fn next(&mut self) -> Vec<(usize, usize)> {
        let mut next = Vec::new();
        for (number, cell) in self.cells.iter_mut().enumerate() {
            let first = cell.left.len() - cell.missing.min(cell.left.len());
            next.extend(cell.left.drain(first..).rev().map(|place| (number, place)));
        }
        next
    }

    /// Counts an example of a cell.
    pub fn count_example(&mut self, cell: usize) {
        self.cells[cell].missing -= 1;
    }

    /// Places that were not tried.
    pub fn left(&self) -> usize {
        self.cells.iter().map(|cell| cell.left.len()).sum()
    }
}

fn by_cell(distribution: &Distribution, places: &[Place]) -> (Vec<Vec<usize>>, u64) {
    let (mut cells, mut outside) = (vec![Vec::new(); distribution.cells()], 0);
    for (index, place) in places.iter().enumerate() {
        match distribution.cell(&place.position) {
            Some(cell) => cells[cell].push(index),
            None => outside += 1,
        }
    }
    (cells, outside)
}
