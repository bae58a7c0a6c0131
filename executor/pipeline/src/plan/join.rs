//! Which cells of a stage a reference means for one cell of the stage that reads it.

use std::collections::HashMap;
use std::rc::Rc;

use super::cells::Matrix;
use super::references::Reference;

/// The cells that a reference means, indexed by their labels on the axes that both stages have.
#[derive(Debug)]
pub struct Join {
    /// Positions of the shared axes, in the reader.
    on: Vec<usize>,
    cells: HashMap<Vec<u32>, Vec<usize>>,
    /// Positions, in the stage that is read, of the axes that are neither fixed nor shared.
    pub open: Vec<usize>,
}

/// Joins, each made once.
#[derive(Default)]
pub struct Joins(HashMap<(usize, usize), Rc<Join>>);

impl Joins {
    /// The join of `reader` (a stage, by number) with a reference (by number).
    pub fn get(&mut self, reader: usize, number: usize, reference: &Reference, grids: &[Option<Matrix>]) -> Rc<Join> {
        self.0
            .entry((reader, number))
            .or_insert_with(|| match (&grids[reader], &grids[reference.stage]) {
                (Some(here), Some(there)) => Rc::new(Join::new(here, there, &reference.fixed)),
                _ => Rc::new(Join { on: Vec::new(), cells: HashMap::new(), open: Vec::new() }),
            })
            .clone()
    }
}

impl Join {
    fn new(here: &Matrix, there: &Matrix, fixed: &[(usize, u32)]) -> Self {
        let (mut on, mut key, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for (position, axis) in there.axes.iter().enumerate() {
            if fixed.iter().any(|(fixed, _)| *fixed == position) {
                continue;
            }
            match here.axis(&axis.name) {
                Some(shared) => {
                    on.push(shared);
                    key.push(position);
                }
                None => open.push(position),
            }
        }
        let mut cells: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for cell in 0..there.cells.len() {
            if fixed.iter().all(|&(position, id)| there.id(cell, position) == id) {
                cells.entry(key.iter().map(|&position| there.id(cell, position)).collect()).or_default().push(cell);
            }
        }
        Join { on, cells, open }
    }

    /// The cells of the stage that is read which agree with this cell of the reader on all shared axes.
    pub fn cells(&self, here: &Matrix, cell: usize) -> &[usize] {
        let key: Vec<u32> = self.on.iter().map(|&position| here.id(cell, position)).collect();
        self.cells.get(&key).map_or(&[], Vec::as_slice)
    }
}
