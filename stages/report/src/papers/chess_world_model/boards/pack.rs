//! The labels of positions as text.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Added to the number of a label that has no prediction: larger than all labels.
const NO_PREDICTION: u8 = 128;

/// Packs the labels of each position as differences to the position before, the first one's to zeros: the number of
/// pairs of label and class, then the pairs, a byte each; as base64.
///
/// Most predictions, right or wrong, are equal in two successive positions, so differences are few.
pub(super) fn pack(positions: &[Vec<Option<u8>>]) -> String {
    let mut bytes = Vec::new();
    let mut before = vec![Some(0); positions.first().map_or(0, Vec::len)];
    for labels in positions {
        let changed: Vec<usize> = (0..labels.len()).filter(|&label| labels[label] != before[label]).collect();
        bytes.push(changed.len() as u8);
        for label in changed {
            bytes.extend(match labels[label] {
                Some(class) => [label as u8, class],
                None => [label as u8 + NO_PREDICTION, 0],
            });
        }
        before.clone_from(labels);
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_written() {
        let positions = [vec![Some(0), Some(5), Some(0)], vec![Some(0), Some(5), None], vec![Some(255), Some(0), None]];
        assert_eq!(pack(&positions), URL_SAFE_NO_PAD.encode([1, 1, 5, 1, 130, 0, 2, 0, 255, 1, 0]));
    }
}
