//! Arms, and the runs of each.

use std::collections::BTreeMap;

use cwm_contract::Failure;

use crate::ModelChoices;

/// A model that is compared, over all of its seeds. Arms are ordered by name, width and layers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arm {
    /// Form and mask, such as `board/none`, or the name of another program's model.
    pub name: String,
    /// Width and layers of the size, for the order.
    dimensions: Vec<u64>,
    /// The size, such as `d64/l2`; empty if it is unknown.
    pub size: String,
    /// The label's coordinates beyond seed and test set, such as `lr=0.001`; empty where name and size alone name the arm.
    pub variant: String,
}

impl Arm {
    /// An arm of this name and size.
    pub fn new(name: &str, size: &str, variant: &str) -> Self {
        let numbers = size.split(|character: char| !character.is_ascii_digit());
        let dimensions = numbers.filter_map(|number| number.parse().ok()).collect();
        Arm { name: name.to_owned(), dimensions, size: size.to_owned(), variant: variant.to_owned() }
    }

    fn of(run: &ModelChoices) -> Self {
        let beyond = run.label.coordinates.iter().filter(|(axis, _)| !matches!(axis.as_str(), "seed" | "test"));
        let variant: Vec<String> = beyond.map(|(axis, value)| format!("{axis}={value}")).collect();
        Arm::new(&run.chooser.arm(), run.chooser.size.as_deref().unwrap_or_default(), &variant.join(", "))
    }

    /// Name, size and variant: `board/none d64/l2 (lr=0.001)`.
    pub fn full_name(&self) -> String {
        let size = if self.size.is_empty() { String::new() } else { format!(" {}", self.size) };
        let variant = if self.variant.is_empty() { String::new() } else { format!(" ({})", self.variant) };
        format!("{}{size}{variant}", self.name)
    }
}

/// The runs of each arm on one test set, in the order of arms and seeds.
///
/// # Errors
/// Two runs of an arm have the same seed.
pub fn by_arm<'a>(
    runs: impl IntoIterator<Item = &'a ModelChoices>,
) -> Result<Vec<(Arm, Vec<&'a ModelChoices>)>, Failure> {
    let mut arms: BTreeMap<Arm, Vec<&ModelChoices>> = BTreeMap::new();
    for run in runs {
        let of_arm = arms.entry(Arm::of(run)).or_default();
        if let Some(other) = of_arm.iter().find(|other| other.seed() == run.seed()) {
            let (one, two) = (&other.label, &run.label);
            let message = format!("{one} and {two} are the same arm with the same seed, on the same test set");
            return Err(Failure::input(message).hint("give the stage an axis in which they differ, such as `test`"));
        }
        of_arm.push(run);
    }
    let alike = |arm: &Arm| arms.keys().filter(|other| (&other.name, &other.size) == (&arm.name, &arm.size)).count();
    let several: Vec<bool> = arms.keys().map(|arm| alike(arm) > 1).collect();
    let named = arms.into_iter().zip(several).map(|((arm, runs), several)| {
        let variant = if several { arm.variant.clone() } else { String::new() };
        (Arm { variant, ..arm }, runs)
    });
    Ok(named.collect())
}
