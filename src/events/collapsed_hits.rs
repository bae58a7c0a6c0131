//! Cache hits in a row: printed one by one while they are few, else counted.

use cwm_contract::Label;

use cwm_core::plural;

/// Cache hits in a row that are not printed yet.
pub struct CollapsedHits {
    /// The number of hits that are printed one by one.
    few: usize,
    /// The first hits; at most one more than `few`.
    named: Vec<(Label, String)>,
    cells: usize,
    stages: usize,
}

impl CollapsedHits {
    /// Starts a row; up to `few` hits are printed one by one.
    pub fn new(few: usize) -> Self {
        CollapsedHits { few, named: Vec::new(), cells: 0, stages: 0 }
    }

    /// Adds a hit, with the user and the time of its run.
    pub fn add(&mut self, label: &Label, origin: &str) {
        // The cells of a stage come one after the other, but for those that waited for others.
        let is_new = self.named.last().is_none_or(|(last, _)| last.stage != label.stage);
        self.stages += usize::from(is_new);
        self.cells += 1;
        if self.named.len() > self.few {
            self.named.pop();
        }
        self.named.push((label.clone(), origin.to_owned()));
    }

    /// Returns the lines of the hits since the last call.
    pub fn take(&mut self) -> Vec<String> {
        let hits = std::mem::replace(self, CollapsedHits::new(self.few));
        if hits.cells <= hits.few {
            return hits.named.iter().map(|(label, origin)| line(label, origin)).collect();
        }
        let Some((first, origin)) = hits.named.first() else { return Vec::new() };
        let stages = plural(hits.stages as u64, "stage", "stages");
        vec![format!("  cached   {} cells of {stages}, the first {first}  ({origin}); `-v` lists them", hits.cells)]
    }
}

/// Formats the line of one cached cell.
pub fn line(label: &Label, origin: &str) -> String {
    format!("  cached   {label}  ({origin})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(few: usize, labels: &[&str]) -> Vec<String> {
        let mut cached = CollapsedHits::new(few);
        labels.iter().for_each(|label| cached.add(&label.parse().unwrap(), "ada@host, today"));
        let lines = cached.take();
        assert_eq!(cached.take(), [""; 0], "each is printed once");
        lines
    }

    #[test]
    fn few_are_printed_one_by_one_and_many_are_counted() {
        assert_eq!(lines_of(2, &[]), [""; 0]);
        assert_eq!(
            lines_of(2, &["a", "b[x=1]"]),
            ["  cached   a  (ada@host, today)", "  cached   b[x=1]  (ada@host, today)"]
        );
        assert_eq!(
            lines_of(2, &["a", "b[x=1]", "b[x=2]", "b[x=3]"]),
            ["  cached   4 cells of 2 stages, the first a  (ada@host, today); `-v` lists them"]
        );
    }
}
