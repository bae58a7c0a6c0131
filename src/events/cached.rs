//! Cells that were cached, one after the other, as people read of them: by name while they are few, else counted.

use cwm_contract::Label;

use cwm_core::text::plural;

/// Cached cells that nothing was said of yet.
pub struct Cached {
    /// So many are told by name.
    few: usize,
    /// Of these, at most so many are kept.
    named: Vec<(Label, String)>,
    cells: usize,
    stages: usize,
}

impl Cached {
    /// None yet; up to `few` in a row are told one by one.
    pub fn new(few: usize) -> Self {
        Cached { few, named: Vec::new(), cells: 0, stages: 0 }
    }

    /// One more, with who made it and when.
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

    /// The lines that tell of those that came since the last time.
    pub fn take(&mut self) -> Vec<String> {
        let told = std::mem::replace(self, Cached::new(self.few));
        if told.cells <= told.few {
            return told.named.iter().map(|(label, origin)| line(label, origin)).collect();
        }
        let Some((first, origin)) = told.named.first() else { return Vec::new() };
        let stages = plural(told.stages as u64, "stage", "stages");
        vec![format!("  cached   {} cells of {stages}, the first {first}  ({origin}); `-v` lists them", told.cells)]
    }
}

/// The line of one cached cell.
pub fn line(label: &Label, origin: &str) -> String {
    format!("  cached   {label}  ({origin})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(few: usize, labels: &[&str]) -> Vec<String> {
        let mut cached = Cached::new(few);
        labels.iter().for_each(|label| cached.add(&label.parse().unwrap(), "ada@host, today"));
        let told = cached.take();
        assert_eq!(cached.take(), [""; 0], "each is told once");
        told
    }

    #[test]
    fn few_are_told_one_by_one_and_many_are_counted() {
        assert_eq!(told(2, &[]), [""; 0]);
        assert_eq!(
            told(2, &["a", "b[x=1]"]),
            ["  cached   a  (ada@host, today)", "  cached   b[x=1]  (ada@host, today)"]
        );
        assert_eq!(
            told(2, &["a", "b[x=1]", "b[x=2]", "b[x=3]"]),
            ["  cached   4 cells of 2 stages, the first a  (ada@host, today); `-v` lists them"]
        );
    }
}
