//! Pairs of label and class, position by position, as text.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Stands beside a label of which nothing is believed: above all labels.
pub(super) const NOTHING: u8 = 128;

/// For each position the number of its pairs, then the pairs, a byte each; as base64.
pub(super) fn pack<'a>(positions: impl Iterator<Item = &'a [(u8, Option<u8>)]>) -> String {
    let mut bytes = Vec::new();
    for pairs in positions {
        bytes.push(pairs.len() as u8);
        for (label, class) in pairs {
            bytes.extend(match class {
                Some(class) => [*label, *class],
                None => [label + NOTHING, 0],
            });
        }
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The labels of each position as differences to the position before, the first one's to zeros.
pub(super) fn pack_truth(positions: &[Vec<u8>]) -> String {
    let mut before = vec![0; positions.first().map_or(0, Vec::len)];
    let mut differences: Vec<Vec<(u8, Option<u8>)>> = Vec::new();
    for labels in positions {
        let changed = labels.iter().zip(&before).enumerate().filter(|(_, (now, then))| now != then);
        differences.push(changed.map(|(label, (&now, _))| (label as u8, Some(now))).collect());
        before.clone_from(labels);
    }
    pack(differences.iter().map(Vec::as_slice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_bytes() {
        let positions: [&[(u8, Option<u8>)]; 3] = [&[(3, Some(12)), (74, None)], &[], &[(0, Some(255))]];
        assert_eq!(pack(positions.into_iter()), URL_SAFE_NO_PAD.encode([2, 3, 12, 202, 0, 0, 1, 0, 255]));
        let truth = [vec![0, 5, 0], vec![0, 5, 1], vec![0, 0, 1]];
        assert_eq!(pack_truth(&truth), URL_SAFE_NO_PAD.encode([1, 1, 5, 1, 2, 1, 1, 1, 0]));
    }
}
