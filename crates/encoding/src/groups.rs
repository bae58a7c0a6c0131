//! The 75 labels of a position, in seven groups, and where each label's logits lie.

/// Labels of one position.
pub const LABELS: usize = 75;

/// Logits of one position: the classes of all 75 labels together.
pub const LOGITS: usize = 1878;

/// Consecutive labels of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelGroup {
    /// Its name, as in the columns `hits_…` of a scores file.
    pub name: &'static str,
    /// Index of its first label.
    pub first: usize,
    /// Number of labels.
    pub labels: usize,
    /// Classes of each of them.
    pub classes: usize,
    /// Index of the first logit of its first label; its labels' logits follow each other.
    pub first_logit: usize,
}

/// The groups in the order of labels and of logits.
///
/// `pieces`: squares a8, b8, … h1, classes `.PNBRQKpnbrqk`. `side`: white, black to move. `castling`: K, Q, k, q.
/// `ep_file`: none, a … h. `ep_rank`: none, rank 3, rank 6. `halfmove`, `fullmove`: high byte, low byte.
pub const GROUPS: [LabelGroup; 7] = {
    let mut groups = [
        group("pieces", 64, 13),
        group("side", 1, 2),
        group("castling", 4, 2),
        group("ep_file", 1, 9),
        group("ep_rank", 1, 3),
        group("halfmove", 2, 256),
        group("fullmove", 2, 256),
    ];
    let (mut i, mut label, mut logit) = (0, 0, 0);
    while i < groups.len() {
        groups[i].first = label;
        groups[i].first_logit = logit;
        label += groups[i].labels;
        logit += groups[i].labels * groups[i].classes;
        i += 1;
    }
    assert!(label == LABELS && logit == LOGITS);
    groups
};

const fn group(name: &'static str, labels: usize, classes: usize) -> LabelGroup {
    LabelGroup { name, first: 0, labels, classes, first_logit: 0 }
}

/// Returns the number of classes of the label `label` (below [`LABELS`]).
pub const fn classes(label: usize) -> usize {
    group_of(label).classes
}

/// Index of the first logit of the label `label` (below [`LABELS`]).
pub const fn first_logit(label: usize) -> usize {
    let group = group_of(label);
    group.first_logit + (label - group.first) * group.classes
}

const fn group_of(label: usize) -> LabelGroup {
    let mut i = 0;
    while label >= GROUPS[i].first + GROUPS[i].labels {
        i += 1;
    }
    GROUPS[i]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logits_split_as_the_paper_s_head_does() {
        let splits: Vec<usize> = GROUPS.iter().map(|group| group.labels * group.classes).collect();
        assert_eq!(splits, [832, 2, 8, 9, 3, 512, 512]);
        assert_eq!(first_logit(0), 0);
        assert_eq!(first_logit(64), 832);
        assert_eq!(first_logit(69), 842);
        assert_eq!(first_logit(74) + classes(74), LOGITS);
        for label in 1..LABELS {
            assert_eq!(first_logit(label - 1) + classes(label - 1), first_logit(label));
        }
    }
}
