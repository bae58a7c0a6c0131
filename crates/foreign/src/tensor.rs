//! A tensor as files describe it: elements of a run of bytes, at strides.

use crate::element::Element;

/// Elements of a storage that make a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The storage of the elements.
    pub storage: Storage,
    /// Index of the first.
    pub offset: u64,
    /// Number of elements along each axis.
    pub shape: Vec<u64>,
    /// Stride along each axis, in elements.
    pub strides: Vec<u64>,
}

/// A run of elements, which several tensors may share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Its name in the file.
    pub key: Box<str>,
    /// The type of its elements.
    pub element: Element,
    /// Number of elements, or of bytes.
    pub length: u64,
}

/// Dimensions of a tensor, at most; no parameter has more than four.
pub const MAX_DIMENSIONS: usize = 8;

/// A tensor's window into its storage may be so much larger than the tensor, and so many bytes more.
const MAX_WINDOW: (u64, u64) = (64, 16 << 20);

/// The part of a storage that a tensor reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Elements of the storage before it.
    pub start: u64,
    /// Elements of it.
    pub length: u64,
}

impl Tensor {
    /// A tensor whose elements follow each other, the last index fastest.
    pub fn contiguous(storage: Storage, shape: Vec<u64>) -> Self {
        let strides = contiguous(&shape).unwrap_or_else(|| vec![0; shape.len()]);
        Tensor { storage, offset: 0, shape, strides }
    }

    /// Bytes that it takes in memory, without its elements.
    pub fn footprint(&self) -> usize {
        let name = match &self.storage.element {
            Element::Other { name, .. } => name.len(),
            _ => 0,
        };
        size_of::<Tensor>() + self.storage.key.len() + name + size_of::<u64>() * (self.shape.len() + self.strides.len())
    }

    /// Number of its elements.
    pub fn elements(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length))
    }

    /// Returns the part of the storage that it reaches.
    ///
    /// # Errors
    /// More than there is, or far more than it is itself: in words that follow the tensor's name.
    pub fn window(&self) -> Result<Window, String> {
        let beyond = || format!("reaches beyond its storage of {} elements", self.storage.length);
        let elements = self.elements().ok_or_else(beyond)?;
        if self.shape.len() != self.strides.len() {
            return Err("has strides for another number of dimensions".into());
        }
        if elements == 0 {
            return Ok(Window { start: 0, length: 0 });
        }
        let steps = self.shape.iter().zip(&self.strides);
        let last = steps.map(|(&length, &stride)| (length - 1).checked_mul(stride));
        let last = last.into_iter().try_fold(0u64, |sum, step| sum.checked_add(step?)).ok_or_else(beyond)?;
        let end = self.offset.checked_add(last).and_then(|last| last.checked_add(1)).ok_or_else(beyond)?;
        if end > self.storage.length {
            return Err(beyond());
        }
        let length = last + 1;
        if length > elements.saturating_mul(MAX_WINDOW.0).saturating_add(MAX_WINDOW.1) {
            return Err(format!("has its {elements} elements too far apart, over {length}"));
        }
        Ok(Window { start: self.offset, length })
    }

    /// Its elements in their order, from the bytes of its window; `size` bytes each.
    pub fn gather(&self, window: Vec<u8>, size: usize) -> Vec<u8> {
        if contiguous(&self.shape).is_some_and(|usual| self.is_laid_out(&usual)) {
            return window;
        }
        let elements = self.elements().unwrap_or(0) as usize;
        let mut bytes = Vec::with_capacity(elements * size);
        let mut index = vec![0u64; self.shape.len()];
        let mut place = 0u64;
        for _ in 0..elements {
            let start = place as usize * size;
            bytes.extend_from_slice(&window[start..start + size]);
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                place += self.strides[axis];
                if index[axis] < self.shape[axis] {
                    break;
                }
                place -= self.strides[axis] * self.shape[axis];
                index[axis] = 0;
            }
        }
        bytes
    }

    /// Returns true if it has these strides, where they matter.
    fn is_laid_out(&self, strides: &[u64]) -> bool {
        let each = self.shape.iter().zip(self.strides.iter().zip(strides));
        each.into_iter().all(|(&length, (own, other))| length == 1 || own == other)
    }
}

/// Strides of a tensor of this shape whose elements follow each other.
fn contiguous(shape: &[u64]) -> Option<Vec<u64>> {
    let mut strides = vec![1u64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].checked_mul(shape[axis])?;
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tensor(length: u64, offset: u64, shape: &[u64], strides: &[u64]) -> Tensor {
        let storage = Storage { key: "0".into(), element: Element::F32, length };
        Tensor { storage, offset, shape: shape.to_vec(), strides: strides.to_vec() }
    }

    #[test]
    fn a_transposed_slice_is_gathered_in_order() {
        let transposed = tensor(6, 1, &[2, 2], &[1, 3]);
        assert_eq!(transposed.window(), Ok(Window { start: 1, length: 5 }));
        assert_eq!(transposed.gather(vec![1, 2, 3, 4, 5], 1), [1, 4, 2, 5]);
        assert_eq!(tensor(1, 0, &[3], &[0]).gather(vec![7, 8], 2), [7, 8, 7, 8, 7, 8]);
        assert_eq!(tensor(3, 2, &[], &[]).window(), Ok(Window { start: 2, length: 1 }));
        assert_eq!(tensor(0, 9, &[0, 4], &[4, 1]).gather(Vec::new(), 4), [0; 0]);
    }

    #[test]
    fn what_reaches_too_far_is_refused() {
        assert!(tensor(6, 0, &[2, 3], &[3, 1]).window().is_ok());
        assert_eq!(tensor(6, 1, &[2, 3], &[3, 1]).window().unwrap_err(), "reaches beyond its storage of 6 elements");
        for shape in [[u64::MAX, 2], [1 << 40, 1 << 40]] {
            assert!(tensor(6, 0, &shape, &[1, 1]).window().unwrap_err().contains("beyond"));
        }
        assert!(tensor(6, u64::MAX, &[1], &[1]).window().is_err());
        assert!(tensor(1 << 40, 0, &[2], &[1 << 39]).window().unwrap_err().contains("too far apart"));
        assert!(tensor(6, 0, &[2], &[1, 1]).window().unwrap_err().contains("dimensions"));
    }

    proptest! {
        #[test]
        fn no_numbers_make_a_window_panic(
            length: u64, offset: u64, shape in prop::collection::vec(any::<u64>(), 0..4),
            strides in prop::collection::vec(any::<u64>(), 0..4),
        ) {
            let _ = tensor(length, offset, &shape, &strides).window();
        }

        #[test]
        fn gathering_is_indexing(
            axes in prop::collection::vec((1u64..4, 0u64..5), 0..4), offset in 0u64..3,
        ) {
            let (shape, strides): (Vec<u64>, Vec<u64>) = axes.iter().copied().unzip();
            let tensor = tensor(256, offset, &shape, &strides);
            let window = tensor.window().unwrap();
            let found = tensor.gather((0..window.length as u8).collect(), 1);
            let mut expected = vec![0u64];
            for (length, stride) in axes {
                expected = expected.iter().flat_map(|at| (0..length).map(move |i| at + i * stride)).collect();
            }
            prop_assert_eq!(found, expected.into_iter().map(|at| at as u8).collect::<Vec<_>>());
        }
    }
}
