//! Places of the parameters in the arrays of a GPU: in declaration order, each where a tensor may begin, so that passes get
//! the weights without copies. What lies between them is zero and stays so: its gradient is zero.

use std::ops::Range;

use cwm_models::parameters::Layout;

/// The place of each parameter in an array.
#[derive(Clone, Debug)]
pub struct AlignedLayout {
    ranges: Vec<Range<usize>>,
    total: usize,
}

impl AlignedLayout {
    /// Places that begin at multiples of `alignment`.
    pub fn new(layout: &Layout, alignment: usize) -> Self {
        let mut total = 0;
        let place = |index: usize| {
            let start = total;
            let range = start..start + layout.range(index).len();
            total = range.end.next_multiple_of(alignment);
            range
        };
        let ranges = (0..layout.parameters().len()).map(place).collect();
        AlignedLayout { ranges, total }
    }

    /// Length of an array.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The place of a parameter.
    pub fn range(&self, index: usize) -> Range<usize> {
        self.ranges[index].clone()
    }

    /// An array of these values, which are in declaration order without gaps.
    pub fn scatter(&self, values: &[f32]) -> Vec<f32> {
        let (mut array, mut values) = (vec![0.0; self.total], values);
        for range in &self.ranges {
            let (of_this, rest) = values.split_at(range.len());
            array[range.clone()].copy_from_slice(of_this);
            values = rest;
        }
        array
    }

    /// The values of an array without its gaps.
    pub fn gather(&self, array: &[f32]) -> Vec<f32> {
        self.ranges.iter().flat_map(|range| &array[range.clone()]).copied().collect()
    }
}
