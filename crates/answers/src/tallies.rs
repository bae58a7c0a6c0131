//! A folder of tallies.

use std::path::Path;

use cwm_contract::Failure;
use cwm_table::{Row, TableReader, TableWriter};

use crate::{GradesDescription, ItemCount, Measure, PairTally, Tally};

const OVERALL: &str = "overall";
const CATEGORIES: &str = "categories";
const TASKS: &str = "tasks";
const PAIRS: &str = "pairs";
const ITEMS: &str = "items";
const MEASURES: &str = "measures";

/// All tallies of a `grade`, sorted by run, then in the order of the items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tallies {
    /// The description of all of them.
    pub graded: GradesDescription,
    /// A row a run.
    pub overall: Vec<Tally>,
    /// A row a run and category.
    pub categories: Vec<Tally>,
    /// A row a run and task.
    pub tasks: Vec<Tally>,
    /// A row for every two runs.
    pub pairs: Vec<PairTally>,
    /// A row a task.
    pub items: Vec<ItemCount>,
    /// A row a run, graded task and measure.
    pub measures: Vec<Measure>,
}

impl Tallies {
    /// Writes the folder.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        fs_err::create_dir_all(folder)?;
        for (name, rows) in [(OVERALL, &self.overall), (CATEGORIES, &self.categories), (TASKS, &self.tasks)] {
            write(folder, name, &self.graded, rows)?;
        }
        write(folder, PAIRS, &self.graded, &self.pairs)?;
        write(folder, ITEMS, &self.graded, &self.items)?;
        write(folder, MEASURES, &self.graded, &self.measures)
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// A file is missing or of another format, or an operation on the disk fails.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let (graded, overall) = read(folder, OVERALL)?;
        let of = |name| read(folder, name).map(|(_, rows)| rows);
        let (categories, tasks) = (of(CATEGORIES)?, of(TASKS)?);
        let (pairs, items, measures) = (read(folder, PAIRS)?.1, read(folder, ITEMS)?.1, read(folder, MEASURES)?.1);
        Ok(Tallies { graded, overall, categories, tasks, pairs, items, measures })
    }
}

fn write<R: Row<Description = GradesDescription> + Clone>(
    folder: &Path,
    name: &str,
    graded: &GradesDescription,
    rows: &[R],
) -> Result<(), Failure> {
    let mut writer = TableWriter::create(&folder.join(format!("{name}.parquet")), graded)?;
    rows.iter().try_for_each(|row| writer.push(row.clone()))?;
    writer.finish()
}

fn read<R: Row<Description = GradesDescription>>(
    folder: &Path,
    name: &str,
) -> Result<(GradesDescription, Vec<R>), Failure> {
    let reader = TableReader::<R>::open(&folder.join(format!("{name}.parquet")))?;
    let graded = reader.description().clone();
    Ok((graded, reader.collect::<Result<_, _>>()?))
}
