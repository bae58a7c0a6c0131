//! Helpers of this crate's tests: comparisons.

/// Asserts that both are equal within `tolerance`, relative to magnitudes above one.
#[track_caller]
pub fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance * expected.abs().max(1.0);
        assert!((found - expected).abs() <= allowed, "element {i}: {found} where {expected} was expected");
    }
}

/// Asserts that the difference of both has at most `share` of the norm of what was expected.
#[track_caller]
pub fn assert_near(found: &[f32], expected: &[f32], share: f64) {
    assert_eq!(found.len(), expected.len());
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let wide = |value: &f32| f64::from(*value);
    let difference = norm(&mut found.iter().zip(expected).map(|(f, e)| wide(f) - wide(e)));
    let whole = norm(&mut expected.iter().map(wide));
    assert!(difference <= share * whole, "a difference of {difference} to {whole}");
}
