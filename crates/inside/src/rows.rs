//! Rows of some sites in scratch files: written one after the other, read at any place.

use std::io::{BufWriter, Write};
use std::path::Path;

use cwm_contract::Failure;
use fs_err::File;
use memmap2::Mmap;

/// Writes rows of `width` floats, one file a site.
#[derive(Debug)]
pub struct RowsWriter {
    files: Vec<BufWriter<File>>,
    width: usize,
    rows: usize,
}

/// The size of the scratch files of `rows` rows of `sites` sites, as text for a log.
pub fn scratch(rows: u64, sites: usize, width: usize) -> String {
    let bytes = u128::from(rows) * (sites * width * size_of::<f32>()) as u128;
    format!("scratch files of {bytes} bytes, {rows} rows × {sites} layers × {width} × 4")
}

impl RowsWriter {
    /// New files `NAME-0.f32`, ... in `folder` for this number of sites.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn create(folder: &Path, name: &str, sites: usize, width: usize) -> Result<Self, Failure> {
        let file = |site| {
            let mut options = fs_err::OpenOptions::new();
            options.read(true).write(true).create(true).truncate(true);
            Ok(BufWriter::new(options.open(folder.join(format!("{name}-{site}.f32")))?))
        };
        Ok(RowsWriter { files: (0..sites).map(file).collect::<Result<_, Failure>>()?, width, rows: 0 })
    }

    /// Adds rows: of each site, the same number of them.
    ///
    /// # Errors
    /// An operation on the disk fails.
    ///
    /// # Panics
    /// There are not as many values of each site: a mistake of the caller.
    pub fn push(&mut self, by_site: &[impl AsRef<[f32]>]) -> Result<(), Failure> {
        let values = by_site.first().map_or(0, |values| values.as_ref().len());
        assert!(by_site.len() == self.files.len() && values.is_multiple_of(self.width), "rows of each site");
        for (file, rows) in self.files.iter_mut().zip(by_site) {
            assert_eq!(rows.as_ref().len(), values, "as many rows of each site");
            let bytes: Vec<u8> = rows.as_ref().iter().flat_map(|value| value.to_le_bytes()).collect();
            file.write_all(&bytes)?;
        }
        self.rows += values / self.width;
        Ok(())
    }

    /// Ends writing.
    ///
    /// # Errors
    /// An operation on the disk fails, or a file cannot be mapped.
    pub fn finish(self) -> Result<Rows, Failure> {
        let map = |file: BufWriter<File>| {
            let file = file.into_inner().map_err(|error| error.into_error())?;
            // SAFETY: the file lies in the scratch folder of this process, which alone writes it, and does so no more.
            Ok(unsafe { Mmap::map(file.file())? })
        };
        let maps = self.files.into_iter().map(map).collect::<Result<Vec<_>, std::io::Error>>()?;
        Ok(Rows { maps, width: self.width, rows: self.rows })
    }
}

/// Rows in scratch files, mapped into memory.
#[derive(Debug)]
pub struct Rows {
    maps: Vec<Mmap>,
    width: usize,
    rows: usize,
}

impl Rows {
    /// Number of rows of each site.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// True without a row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Values of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Copies these rows of a site, given by its place among the sites, one after the other: `into` becomes [rows, width].
    ///
    /// # Panics
    /// There is no such site or row.
    pub fn read(&self, site: usize, rows: impl IntoIterator<Item = usize>, into: &mut Vec<f32>) {
        into.clear();
        let bytes = self.width * size_of::<f32>();
        for row in rows {
            let values = self.maps[site][row * bytes..(row + 1) * bytes].as_chunks().0;
            into.extend(values.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        }
    }
}
