//! All files as one stream of blocks, a window of them at a time.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cwm_chess::pgn::{Meter, PgnSource};
use cwm_contract::Failure;

use crate::lines::{Block, Lines};

/// Reads the files one after another. Their compression is recognised by their first bytes, as that of PGN.
pub struct BlockStream<'a> {
    files: &'a [PathBuf],
    meter: Arc<Meter>,
    /// The file that is being read.
    file: usize,
    open: Option<Lines<PgnSource>>,
}

/// Some blocks in their order, each with the number of its file.
#[derive(Default)]
pub struct Window {
    pub blocks: Vec<(usize, Block)>,
    /// The failure after them, if they are not followed by the end.
    pub failure: Option<Failure>,
}

impl<'a> BlockStream<'a> {
    /// Opens nothing yet. Bytes that are read are added to `meter`.
    pub fn new(files: &'a [PathBuf], meter: Arc<Meter>) -> Self {
        BlockStream { files, meter, file: 0, open: None }
    }

    /// Returns at most `blocks` blocks; none at the end.
    pub fn window(&mut self, blocks: usize) -> Window {
        let mut window = Window::default();
        while window.blocks.len() < blocks {
            match self.next() {
                Ok(Some(block)) => window.blocks.push((self.file, block)),
                Ok(None) => break,
                Err(failure) => {
                    window.failure = Some(failure);
                    break;
                }
            }
        }
        window
    }

    fn next(&mut self) -> Result<Option<Block>, Failure> {
        while let Some(path) = self.files.get(self.file) {
            let mut lines = match self.open.take() {
                Some(lines) => lines,
                None => Lines::new(PgnSource::open(path, &self.meter).map_err(|error| unreadable(path, &error))?),
            };
            if let Some(block) = lines.next().map_err(|error| unreadable(path, &error))? {
                self.open = Some(lines);
                return Ok(Some(block));
            }
            self.file += 1;
        }
        Ok(None)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot read {}: {error}", path.display());
    match error.kind() {
        ErrorKind::UnexpectedEof => Failure::input(message).hint("get the whole file"),
        ErrorKind::Unsupported => Failure::input(message).hint("decompress it first"),
        ErrorKind::NotFound | ErrorKind::PermissionDenied => Failure::system(message),
        _ => Failure::input(message),
    }
}
