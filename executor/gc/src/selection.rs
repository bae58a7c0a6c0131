//! Results by the names that people type, without a plan: the lock file lists the cells.

use cwm_contract::Label;

use cwm_core::Error;

/// Returns true if `label` is of one of these stages or cells; an empty selection means all.
pub fn matches_selection(label: &Label, words: &[Label]) -> bool {
    let is_of = |word: &Label| {
        let coordinates = &word.coordinates;
        word.stage == label.stage && coordinates.iter().all(|(axis, value)| label.coordinate(axis) == Some(value))
    };
    words.is_empty() || words.iter().any(is_of)
}

/// Stages or cells as they were typed, each of which is there among `known`.
///
/// # Errors
/// One is not, or is no name of a stage.
pub fn stages<'l>(words: &[String], known: impl Iterator<Item = &'l Label> + Clone) -> Result<Vec<Label>, Error> {
    let mut labels = Vec::new();
    for word in words {
        let label: Label = word.parse().map_err(Error::usage)?;
        if !known.clone().any(|known| matches_selection(known, std::slice::from_ref(&label))) {
            return Err(
                Error::usage(format!("there is no result of `{word}`")).hint("`cwm store ls --all` lists all results")
            );
        }
        labels.push(label);
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> Label {
        text.parse().unwrap()
    }

    #[test]
    fn a_stage_means_all_of_its_cells_and_a_cell_those_that_agree_with_it() {
        let cell = label("model[size=a,seed=1]");
        for meant in ["model", "model[size=a]", "model[seed=1,size=a]"] {
            assert!(matches_selection(&cell, &[label(meant)]), "{meant}");
        }
        for other in ["models", "model[size=b]", "model[depth=1]"] {
            assert!(!matches_selection(&cell, &[label(other)]), "{other}");
        }
        assert!(matches_selection(&cell, &[]));
        let known = [cell];
        assert!(stages(&["other".into()], known.iter()).is_err());
        assert!(stages(&["model[".into()], known.iter()).is_err());
    }
}
