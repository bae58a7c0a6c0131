//! Lines of fewer points: a curve that lies at zero for a hundred bins is one line.

use super::canvas::Coordinate;

/// Leaves out the points that lie between two others on a straight line: the shape stays the same, to the last unit.
pub(super) fn simplify_collinear(points: impl IntoIterator<Item = Coordinate>) -> Vec<Coordinate> {
    let mut kept: Vec<Coordinate> = Vec::new();
    for point in points {
        while let [.., before, last] = kept[..]
            && is_between(before, last, point)
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

/// Returns true if the path from `before` over `middle` to `after` goes straight on.
fn is_between(before: Coordinate, middle: Coordinate, after: Coordinate) -> bool {
    let step =
        |from: Coordinate, to: Coordinate| (i64::from(to.0) - i64::from(from.0), i64::from(to.1) - i64::from(from.1));
    let ((x, y), (then_x, then_y)) = (step(before, middle), step(middle, after));
    x * then_y == y * then_x && x * then_x + y * then_y >= 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_goes_straight_on_is_one_line_and_what_turns_back_is_not() {
        let flat: Vec<_> = (0..100).map(|x| (x, 7)).collect();
        assert_eq!(simplify_collinear(flat), [(0, 7), (99, 7)]);
        assert_eq!(simplify_collinear([(0, 0), (2, 2), (1, 1)]), [(0, 0), (2, 2), (1, 1)]);
        assert_eq!(simplify_collinear([(0, 0), (0, 0)]), [(0, 0), (0, 0)]);
        assert_eq!(simplify_collinear([(0, 0), (5, 1), (10, 3)]), [(0, 0), (5, 1), (10, 3)]);
    }

    proptest! {
        /// Every point that was left out lies on the line between two neighbours that stay, and in their order.
        #[test]
        fn the_shape_stays(points in prop::collection::vec((0_i32..4, 0_i32..4), 0..12)) {
            let kept = simplify_collinear(points.clone());
            prop_assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
            let mut ends = kept.iter().copied().zip(kept.iter().copied().skip(1));
            let Some(mut line) = ends.next() else { return Ok(()) };
            for point in points {
                while !is_between(line.0, point, line.1) {
                    line = ends.next().ok_or_else(|| TestCaseError::fail(format!("{point:?} lies on no line of {kept:?}")))?;
                }
            }
        }
    }
}
