//! Lists of numbers where they lie in a mapped file.

use std::ops::Range;

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};

/// A column of lists of 16-bit numbers in a mapped file, at least one. Nothing of it is copied.
#[derive(Clone, Debug)]
pub struct Lists {
    /// One more than there are lists.
    offsets: ScalarBuffer<i32>,
    values: ScalarBuffer<u16>,
}

impl Lists {
    /// The lists whose offsets and numbers lie at these places of a file.
    ///
    /// # Errors
    /// They do not lie where numbers of their size can be read, or do not fit together. Whether each offset is behind
    /// the one before is seen when its list is requested, so that opening a file does not read it all.
    pub fn open(file: &Buffer, offsets: Range<usize>, values: Range<usize>) -> Result<Self, String> {
        let lists = Lists { offsets: numbers(file, offsets)?, values: numbers(file, values)? };
        let ends = lists.offsets.first().zip(lists.offsets.last());
        match ends {
            Some((&first, &last)) if 0 <= first && first <= last && last as usize <= lists.values.len() => Ok(lists),
            _ => Err("the offsets of its lists do not fit the numbers".to_owned()),
        }
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of numbers in all lists.
    pub fn numbers(&self) -> u64 {
        (self.offsets[self.len()] - self.offsets[0]) as u64
    }

    /// The list at `row`; `None` if there is none, or if it ends before it begins.
    pub fn get(&self, row: usize) -> Option<&[u16]> {
        let (start, end) = (self.offsets.get(row)?, self.offsets.get(row + 1)?);
        self.values.get(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?)
    }
}

/// The numbers at a place of a file.
fn numbers<T: ArrowNativeType>(file: &Buffer, place: Range<usize>) -> Result<ScalarBuffer<T>, String> {
    let bytes = file.slice_with_length(place.start, place.len());
    match bytes.as_ptr().align_offset(align_of::<T>()) {
        0 => Ok(ScalarBuffer::from(bytes)),
        _ => Err("its lists do not lie where numbers can be read in place".to_owned()),
    }
}
