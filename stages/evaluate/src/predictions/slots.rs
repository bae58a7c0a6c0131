//! The scores of the positions so far, in a file with a slot for each position of the dataset.

use std::ops::Range;
use std::path::Path;

use cwm_chess::Dataset;
use cwm_contract::Failure;
use fs_err::os::unix::fs::FileExt;

use crate::scores::Score;

/// Bytes of a slot: the right labels as 16 bytes, the highest bit of which is set if the slot is taken; the loss.
const SLOT: usize = 24;
/// The bit of a taken slot, above those of all labels.
const TAKEN: u128 = 1 << 127;

/// The file of slots.
pub struct Slots {
    file: fs_err::File,
    /// Number of positions before each game, and of all.
    starts: Vec<u64>,
}

impl Slots {
    /// Makes the file, all slots empty.
    ///
    /// # Errors
    /// The dataset is damaged, or an operation on the disk fails.
    pub fn create(path: &Path, dataset: &Dataset) -> Result<Self, Failure> {
        let mut starts = Vec::with_capacity(dataset.len() + 1);
        let mut positions = 0;
        starts.push(0);
        for game in 0..dataset.len() {
            positions += dataset.tokens(game)?.unwrap_or_default().len() as u64;
            starts.push(positions);
        }
        let file = fs_err::OpenOptions::new().create_new(true).read(true).write(true).open(path)?;
        file.set_len(positions * SLOT as u64)?;
        Ok(Slots { file, starts })
    }

    /// Returns the number of positions of a game.
    pub fn positions(&self, game: u32) -> u64 {
        self.starts[game as usize + 1] - self.starts[game as usize]
    }

    /// Fills the slots of a game from position `t` on. Returns the first of these positions whose slot is taken
    /// already; then nothing was written.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn fill(&self, game: u32, t: u64, scores: &[Score]) -> Result<Option<u64>, Failure> {
        let offset = (self.starts[game as usize] + t) * SLOT as u64;
        let mut bytes = vec![0; scores.len() * SLOT];
        self.file.read_exact_at(&mut bytes, offset)?;
        for (at, (slot, score)) in bytes.chunks_exact_mut(SLOT).zip(scores).enumerate() {
            if right(slot) & TAKEN != 0 {
                return Ok(Some(t + at as u64));
            }
            slot[..16].copy_from_slice(&(score.right | TAKEN).to_le_bytes());
            slot[16..].copy_from_slice(&score.loss.unwrap_or_default().to_le_bytes());
        }
        self.file.write_all_at(&bytes, offset)?;
        Ok(None)
    }

    /// The scores of these games, all of whose slots are taken.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn scores(&self, games: Range<usize>, with_loss: bool) -> Result<Vec<Vec<Score>>, Failure> {
        let loss = |slot: &[u8]| slot[16..].try_into().map(f64::from_le_bytes).ok().filter(|_| with_loss);
        let score = |slot: &[u8]| Score { right: right(slot) & !TAKEN, loss: loss(slot) };
        games.map(|game| Ok(self.read(game)?.chunks_exact(SLOT).map(score).collect())).collect()
    }

    /// Checks that every position of the dataset has its slot taken.
    ///
    /// # Errors
    /// It has not: the error has their number and the first one. Or an operation on the disk fails.
    pub fn check_complete(&self, dataset: &Dataset) -> Result<(), Failure> {
        let (mut positions, mut games, mut first) = (0, 0, None);
        for game in 0..self.starts.len() - 1 {
            let slots = self.read(game)?;
            let missing = slots.chunks_exact(SLOT).filter(|slot| right(slot) & TAKEN == 0).count();
            if missing > 0 {
                positions += missing;
                games += 1;
                first = first.or(slots.chunks_exact(SLOT).position(|slot| right(slot) & TAKEN == 0).map(|t| (game, t)));
            }
        }
        let Some((game, t)) = first else { return Ok(()) };
        let id = dataset.get(game)?.map(|game| game.row().id.to_owned()).unwrap_or_default();
        Err(Failure::input(format!(
            "the predictions lack {positions} of {} positions, in {games} of {} games: the first is t = {t} of game \
             {game} ({id})",
            dataset.positions(),
            dataset.len()
        ))
        .hint("a row for every position of every game: t = 0 is the one that belongs to START, the last one t = plies"))
    }

    fn read(&self, game: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0; (self.starts[game + 1] - self.starts[game]) as usize * SLOT];
        self.file.read_exact_at(&mut bytes, self.starts[game] * SLOT as u64)?;
        Ok(bytes)
    }
}

/// The first 16 bytes of a slot.
fn right(slot: &[u8]) -> u128 {
    slot[..16].try_into().map_or(0, u128::from_le_bytes)
}
