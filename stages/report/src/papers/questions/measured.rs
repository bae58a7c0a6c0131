//! The runs with their tallies.

use std::collections::BTreeMap;

use cwm_answers::{ItemCount, PairTally, PlayerSettings, Tallies, Tally};
use cwm_contract::{Failure, GroupInput};
use cwm_page::escape_controls;
use cwm_questions::Category;

use super::facts::PUBLISHED;
use super::is_question;

/// Everything that was measured. All texts are safe to show.
#[derive(Default)]
pub(super) struct Measurements {
    /// The best first.
    pub(super) runs: Vec<MeasuredRun>,
    /// Pairs of runs of one `grade`, with its label.
    pub(super) pairs: Vec<(String, PairTally)>,
    /// Tasks in the order of items, with the label of the `grade`.
    pub(super) items: Vec<(String, ItemCount)>,
    /// Labels of the cells that made it.
    pub(super) labels: Vec<String>,
    /// Categories of each cell whose items are the published ones.
    published: BTreeMap<String, Vec<String>>,
}

/// A run.
pub(super) struct MeasuredRun {
    /// The label of the cell that graded it.
    pub(super) label: String,
    /// Its full name.
    pub(super) name: String,
    pub(super) settings: PlayerSettings,
    pub(super) overall: Tally,
    categories: Vec<Tally>,
    tasks: Vec<Tally>,
}

impl Measurements {
    /// Reads all folders.
    ///
    /// # Errors
    /// A folder is none of tallies, or has a run that it does not describe.
    pub(super) fn read(inputs: &[GroupInput]) -> Result<Self, Failure> {
        let mut measured = Measurements::default();
        for input in inputs {
            let label = escape_controls(&input.label.to_string());
            measured.add(label, Tallies::read(&input.path)?)?;
        }
        let accuracy = |run: &MeasuredRun| run.overall.accuracy;
        measured.runs.sort_by(|one, two| accuracy(two).total_cmp(&accuracy(one)).then_with(|| one.name.cmp(&two.name)));
        measured.labels.sort();
        Ok(measured)
    }

    fn add(&mut self, label: String, tallies: Tallies) -> Result<(), Failure> {
        let Tallies { graded, overall, mut categories, mut tasks, pairs, items, .. } = tallies;
        let questions = items.iter().filter(|count| is_question(&count.category)).count();
        if questions == 0 {
            return Ok(());
        }
        if questions < items.len() {
            let message = format!("the tallies of {label} add up answers to questions and to items of reasoning");
            return Err(Failure::input(message).hint("give each kind of items to a `grade` of its own"));
        }
        categories.iter_mut().chain(&mut tasks).for_each(make_visible);
        for mut overall in overall {
            let mut settings = graded.runs.get(&overall.run).cloned().ok_or_else(|| {
                Failure::input(format!(
                    "the tallies of {label} do not describe their run {}",
                    escape_controls(&overall.run)
                ))
            })?;
            settings.name = escape_controls(&settings.name);
            make_visible(&mut overall);
            let of_run = |rows: &[Tally]| rows.iter().filter(|row| row.run == overall.run).cloned().collect();
            let (categories, tasks) = (of_run(&categories), of_run(&tasks));
            let name = overall.run.clone();
            self.runs.push(MeasuredRun { label: label.clone(), name, settings, overall, categories, tasks });
        }
        self.pairs.extend(pairs.into_iter().map(|pair| {
            let (run, other) = (escape_controls(&pair.run), escape_controls(&pair.other));
            (label.clone(), PairTally { run, other, ..pair })
        }));
        self.items.extend(items.into_iter().map(|count| {
            let (task, category) = (escape_controls(&count.task), escape_controls(&count.category));
            (label.clone(), ItemCount { task, category, ..count })
        }));
        let is_published =
            |(category, digest): &(&str, &str)| graded.items.get(*category).is_some_and(|found| found == digest);
        let published =
            PUBLISHED.iter().filter(|known| is_published(known)).map(|(category, _)| (*category).to_owned());
        self.published.insert(label.clone(), published.collect());
        self.labels.push(label);
        Ok(())
    }

    /// The categories of all items in the published order, then others.
    pub(super) fn categories(&self) -> Vec<String> {
        let has = |category: &str| self.items.iter().any(|(_, count)| count.category == category);
        let known = Category::ALL.iter().map(|category| category.name()).filter(|category| has(category));
        let mut categories: Vec<String> = known.map(str::to_owned).collect();
        for (_, count) in &self.items {
            if !categories.contains(&count.category) {
                categories.push(count.category.clone());
            }
        }
        categories
    }

    /// Returns true if the run answered the published items of the category, or without one all published items.
    pub(super) fn is_published(&self, run: &MeasuredRun, category: Option<&str>) -> bool {
        let of_run = self.published.get(&run.label).map_or(&[][..], Vec::as_slice);
        category.map_or(of_run.len() == PUBLISHED.len(), |category| of_run.iter().any(|known| known == category))
    }

    /// Returns the tally of two runs on the same items, and the accuracy of `one` less that of `other` with its
    /// interval.
    pub(super) fn pair(&self, one: &MeasuredRun, other: &MeasuredRun) -> Option<(&PairTally, [f64; 3])> {
        if one.label != other.label {
            return None;
        }
        let of_label = self.pairs.iter().filter(|(label, _)| *label == one.label).map(|(_, pair)| pair);
        of_label.into_iter().find_map(|pair| match (pair.run == one.name, pair.other == other.name) {
            (true, true) => Some((pair, [pair.difference, pair.low, pair.high])),
            _ if pair.run == other.name && pair.other == one.name => {
                // Not negated: a difference of 0 would become -0.
                Some((pair, [pair.difference, pair.high, pair.low].map(|end| 0.0 - end)))
            }
            _ => None,
        })
    }
}

impl MeasuredRun {
    /// Its tally in a category, or without one over all items.
    pub(super) fn tally(&self, category: Option<&str>) -> Option<&Tally> {
        let Some(category) = category else { return Some(&self.overall) };
        self.categories.iter().find(|tally| tally.category.as_deref() == Some(category))
    }

    /// Its tally in a task.
    pub(super) fn task(&self, task: &str) -> Option<&Tally> {
        self.tasks.iter().find(|tally| tally.task.as_deref() == Some(task))
    }

    /// The paper's name of such a run: a star marks reasoning. `None` if its prompts differ from those of the paper's
    /// runs.
    pub(super) fn paper_name(&self) -> Option<String> {
        (self.variant() == ("none", 1) && self.given() == "fen").then(|| self.starred())
    }

    /// Its name, with a star if it reasons.
    pub(super) fn starred(&self) -> String {
        format!("{}{}", self.settings.name, if self.reasoning() == "none" { "" } else { "*" })
    }

    /// The context that prompts add about the position, and the group of their examples.
    pub(super) fn variant(&self) -> (&str, u64) {
        (self.settings.context.as_deref().unwrap_or("none"), self.settings.examples.unwrap_or(1))
    }

    /// The form in which prompts give a position.
    pub(super) fn given(&self) -> &str {
        self.settings.given.as_deref().unwrap_or("fen")
    }

    /// The effort of reasoning that was requested.
    pub(super) fn reasoning(&self) -> &str {
        self.settings.reasoning.as_deref().unwrap_or("none")
    }
}

fn make_visible(tally: &mut Tally) {
    tally.run = escape_controls(&tally.run);
    tally.category = tally.category.as_deref().map(escape_controls);
    tally.task = tally.task.as_deref().map(escape_controls);
}
