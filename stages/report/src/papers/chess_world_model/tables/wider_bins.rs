//! Narrow bins added up to wider ones, such as the paper's.

use cwm_page::MeanStd;

use crate::papers::chess_world_model::results::{PrefixBin, Results};

/// Returns the results in bins of `width` plies; `None` where theirs do not add up to them. An accuracy is the mean over all
/// positions, as ever; how it is spread does not follow from the narrow bins, and is left out.
pub(super) fn rebinned(results: &Results, width: u64) -> Option<Results> {
    let narrow = results.bin_width();
    if narrow == 0 || narrow >= width || !width.is_multiple_of(narrow) {
        return None;
    }
    let prefix = results.prefix.iter().map(|(key, bins)| {
        let wide = bins.chunk_by(|one, next| one.start / width == next.start / width);
        (*key, wide.map(|bins| added(bins, width)).collect())
    });
    Some(Results { prefix: prefix.collect(), ..results.clone() })
}

fn added(bins: &[PrefixBin], width: u64) -> PrefixBin {
    let positions: u64 = bins.iter().map(|bin| bin.positions).sum();
    let mean = |read: fn(&PrefixBin) -> MeanStd| {
        let right: f64 = bins.iter().map(|bin| read(bin).mean * bin.positions as f64).sum();
        MeanStd { mean: right / positions as f64, deviation: None, interval: None }
    };
    let start = bins[0].start / width * width;
    let mut labels: Vec<String> = bins.iter().flat_map(|bin| bin.labels.iter().cloned()).collect();
    labels.sort();
    labels.dedup();
    let runs = bins.iter().map(|bin| bin.runs).max().unwrap_or(0);
    let (labelwise, exact) = (mean(|bin| bin.labelwise), mean(|bin| bin.exact));
    PrefixBin { start, end: start + width, runs, labels, positions, labelwise, exact }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(width: u64, bins: &[(u64, u64, f64)]) -> Results {
        let bin = |(start, positions, exact): &(u64, u64, f64)| PrefixBin {
            start: *start,
            end: start + width,
            runs: 1,
            labels: vec!["e".into()],
            positions: *positions,
            labelwise: MeanStd::of(&[1.0]),
            exact: MeanStd { interval: Some((0.0, 1.0)), ..MeanStd::of(&[*exact]) },
        };
        Results { prefix: [((0, 0), bins.iter().map(bin).collect())].into(), ..Results::default() }
    }

    #[test]
    fn accuracies_are_those_of_all_positions() {
        let narrow = results(5, &[(0, 30, 1.0), (5, 10, 0.0), (15, 10, 0.5), (20, 4, 0.25), (40, 1, 1.0)]);
        let wide = rebinned(&narrow, 20).unwrap();
        let found: Vec<_> = wide.prefix[&(0, 0)]
            .iter()
            .map(|bin| (bin.start, bin.end, bin.positions, bin.exact.mean, bin.exact.interval))
            .collect();
        assert_eq!(found, [(0, 20, 50, 0.7, None), (20, 40, 4, 0.25, None), (40, 60, 1, 1.0, None)]);
    }

    #[test]
    fn bins_that_do_not_add_up_stay_apart() {
        for width in [3, 20, 40, 0] {
            assert!(rebinned(&results(width, &[(0, 1, 1.0)]), 20).is_none(), "{width}");
        }
        assert!(rebinned(&Results::default(), 20).is_none());
    }
}
