//! The identity of a model over its runs; names and orders models.

use std::cmp::Ordering;

use cwm_contract::Label;
use cwm_page::escape_controls;

use crate::papers::chess_world_model::read::bins::ScoredCell;

/// Families in the paper's order (Tables 4 and 8) and its names; the one that the paper does not report last.
const FAMILIES: [(&str, &str); 8] = [
    ("transformer", "Transformer"),
    ("slice", "SLiCE"),
    ("mamba3", "Mamba-3"),
    ("gated_deltanet", "Gated DeltaNet"),
    ("slice_diag", "Diagonal SLiCE"),
    ("mamba2", "Mamba-2"),
    ("gated_deltanet_pos", "Gated DeltaNet with positive eigenvalues"),
    ("mamba3_mimo", "Mamba-3 (MIMO)"),
];

/// The four main families, each at all four sizes: the rows of Table 8.
pub(crate) const MAIN_FAMILIES: [&str; 4] = ["transformer", "slice", "mamba3", "gated_deltanet"];
/// Their less expressive variants: the rows of Tables 9 and 10.
pub(crate) const ABLATIONS: [&str; 3] = ["slice_diag", "mamba2", "gated_deltanet_pos"];
/// The paper's sizes.
pub(crate) const SIZES: [&str; 4] = ["d128/l1", "d256/l2", "d384/l4", "d512/l6"];

/// One model: everything that its runs share, all but seed and test set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    /// Family, such as `transformer`.
    pub(crate) family: String,
    /// Size, such as `d128/l1`.
    pub(crate) size: String,
    /// All coordinates of the label but `seed` and `test`, in the label's order; or the label itself when it cannot
    /// be read as one.
    pub(crate) coordinates: Vec<(String, String)>,
}

impl Model {
    /// The model behind the scores labelled `label`.
    pub(crate) fn new(label: &str, family: &str, size: &str) -> Self {
        Model { family: family.to_owned(), size: size.to_owned(), coordinates: coordinates(label) }
    }

    /// The model of a scored cell.
    pub(crate) fn of(scored: &ScoredCell) -> Self {
        Model::new(&escape_controls(&scored.label), &escape_controls(&scored.family), &escape_controls(&scored.size))
    }

    /// Returns the coordinates that distinguish this model from another of the same family and size: `lr=0.001`, or
    /// nothing.
    pub(crate) fn variant(&self) -> String {
        let is_known = |axis: &str, value: &str| match axis {
            "family" => value == self.family,
            "size" => value == self.size,
            _ => false,
        };
        let parts = self.coordinates.iter().filter(|(axis, value)| !is_known(axis, value));
        parts.map(|(axis, value)| format!("{axis}={value}")).collect::<Vec<_>>().join(", ")
    }

    /// The family's name, with the variant if there is one.
    pub(crate) fn name(&self) -> String {
        match self.variant() {
            none if none.is_empty() => family_name(&self.family).to_owned(),
            variant => format!("{} ({variant})", family_name(&self.family)),
        }
    }

    fn rank(&self) -> (usize, &str, (u64, u64), &str, &[(String, String)]) {
        let known = family_place(&self.family).unwrap_or(FAMILIES.len());
        (known, &self.family, dimensions(&self.size), &self.size, &self.coordinates)
    }
}

impl Ord for Model {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Model {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The family as the paper calls it; an unknown one as it calls itself.
pub(crate) fn family_name(family: &str) -> &str {
    FAMILIES.iter().find(|(known, _)| *known == family).map_or(family, |(_, name)| name)
}

/// Place of the family among those that are known.
pub(crate) fn family_place(family: &str) -> Option<usize> {
    FAMILIES.iter().position(|(known, _)| *known == family)
}

/// The coordinates of a label, without those in which runs of one model differ.
pub(crate) fn coordinates(label: &str) -> Vec<(String, String)> {
    match label.parse::<Label>() {
        Ok(label) => {
            label.coordinates.into_iter().filter(|(axis, _)| !matches!(axis.as_str(), "seed" | "test")).collect()
        }
        Err(_) => vec![("label".to_owned(), label.to_owned())],
    }
}

/// Width and layers of a size such as `d128/l1`, for sorting; the largest numbers for text of another form.
fn dimensions(size: &str) -> (u64, u64) {
    let numbers = size.split_once('/').and_then(|(width, layers)| {
        Some((width.strip_prefix('d')?.parse().ok()?, layers.strip_prefix('l')?.parse().ok()?))
    });
    numbers.unwrap_or((u64::MAX, u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_and_sizes_come_in_the_papers_order() {
        let mut models: Vec<Model> = [
            ("zeta", "d8/l1"),
            ("mamba3", "d128/l1"),
            ("transformer", "d512/l6"),
            ("transformer", "d64/l1"),
            ("transformer", "odd"),
            ("transformer", "d128/l1"),
        ]
        .into_iter()
        .map(|(family, size)| Model::new("e", family, size))
        .collect();
        models.sort();
        let names: Vec<_> = models.iter().map(|model| format!("{} {}", model.name(), model.size)).collect();
        assert_eq!(
            names,
            [
                "Transformer d64/l1",
                "Transformer d128/l1",
                "Transformer d512/l6",
                "Transformer odd",
                "Mamba-3 d128/l1",
                "zeta d8/l1"
            ]
        );
    }

    #[test]
    fn seed_and_test_do_not_make_another_model_but_other_axes_do() {
        let model = |label: &str| Model::new(label, "slice", "d32/l1");
        assert_eq!(model("e[size=d32/l1,seed=1,test=held_out]"), model("other[size=d32/l1,seed=2]"));
        assert_ne!(model("e[size=d32/l1,lr=0.1]"), model("e[size=d32/l1,lr=0.2]"));
        assert_eq!(model("e[family=slice,size=d32/l1,lr=0.1]").name(), "SLiCE (lr=0.1)");
        assert_eq!(model("e[family=slice,size=d32/l1]").name(), "SLiCE");
        assert_eq!(model("e[broken").name(), "SLiCE (label=e[broken)");
    }
}
