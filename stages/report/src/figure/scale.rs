//! From numbers to places on an axis, and where its ticks stand.

/// How an axis grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Evenly.
    Linear,
    /// By factors; only positive numbers have a place.
    Logarithmic,
}

/// An axis over low..=high.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    /// Numbers at which ticks stand, ascending.
    pub(crate) ticks: Vec<f64>,
}

impl Scale {
    /// An even axis over all of `values`, its ends at ticks. It begins at 0 unless the values lie far above it.
    pub(crate) fn linear(values: impl Iterator<Item = f64>, wanted_ticks: usize) -> Self {
        let (low, high) = range(values).unwrap_or((0.0, 1.0));
        let low = if low >= 0.0 && low < high / 2.0 { 0.0 } else { low };
        // A single value gets some room around it.
        let (low, high) = if low < high { (low, high) } else { (low - low.abs() / 10.0, high + high.abs() / 10.0) };
        let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
        let step = nice_step((high - low) / wanted_ticks as f64);
        let (first, last) = ((low / step).floor(), (high / step - 1e-9).ceil());
        let ticks: Vec<f64> = (0..=(last - first) as usize).map(|index| (first + index as f64) * step).collect();
        Scale { kind: Kind::Linear, low: first * step, high: last * step, ticks }
    }

    /// An even axis from 0 to exactly `end`; the last tick may stand before that.
    pub(crate) fn up_to(end: f64, wanted_ticks: usize) -> Self {
        let high = if end.is_finite() && end > 0.0 { end } else { 1.0 };
        let step = nice_step(high / wanted_ticks as f64);
        let ticks = (0..=(high / step + 1e-9) as usize).map(|index| index as f64 * step).collect();
        Scale { kind: Kind::Linear, low: 0.0, high, ticks }
    }

    /// An axis of factors over the positive ones of `values`.
    pub(crate) fn logarithmic(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values.filter(|value| *value > 0.0)).unwrap_or((0.1, 1.0));
        let (low, high) = (low / 1.1, high * 1.1);
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let at = |factors: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)));
            all.filter(|tick| (low..=high).contains(tick)).collect()
        };
        let every = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        let some = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        let choices = [at(&every), at(&some), at(&[1.0, 2.0, 5.0]), at(&[1.0, 3.0]), at(&[1.0])];
        let fitting = choices.iter().find(|ticks| ticks.len() <= 8).cloned();
        let ticks = match fitting {
            // Within less than a factor of two or so, evenly spaced numbers read better.
            Some(few) if few.len() < 3 => {
                let even = Scale::linear([low, high].into_iter(), 5).ticks;
                even.into_iter().filter(|tick| (low..=high).contains(tick)).collect()
            }
            Some(ticks) => ticks,
            None => {
                let decades = &choices[4];
                decades.iter().copied().step_by(decades.len().div_ceil(8)).collect()
            }
        };
        Scale { kind: Kind::Logarithmic, low, high, ticks }
    }

    /// Where `value` stands: 0 at the low end, 1 at the high one; `None` if it has no place.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Logarithmic if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            Kind::Logarithmic => return None,
        };
        place.is_finite().then_some(place.clamp(0.0, 1.0))
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10f64.powi(step.log10().floor() as i32);
    let factors = [1.0, 2.0, 5.0, 10.0];
    factors.into_iter().map(|factor| factor * power).find(|nice| *nice >= step * 0.999_999).unwrap_or(10.0 * power)
}

/// A tick's number in few characters.
pub(crate) fn tick_label(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 1e6 => crate::number::loss(value),
        whole if whole >= 1.0 && whole.fract().abs() < 1e-9 => crate::number::count(whole.round() as u64),
        small if small < 1e-4 => crate::number::loss(value),
        _ => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_ticks_are_round_and_enclose_the_values() {
        let check = |values: &[f64], ticks: &[f64]| {
            assert_eq!(Scale::linear(values.iter().copied(), 5).ticks, ticks);
        };
        check(&[3.0, 97.0], &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        check(&[0.0, 100.0], &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        check(&[71.0, 88.0], &[70.0, 75.0, 80.0, 85.0, 90.0]);
        check(&[], &[0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        check(&[0.0], &[0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        check(&[f64::NAN, 10.0, f64::INFINITY], &[9.0, 9.5, 10.0, 10.5, 11.0]);
    }

    #[test]
    fn an_axis_may_end_between_ticks() {
        let scale = Scale::up_to(610.0, 7);
        assert_eq!(scale.ticks, [0.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0]);
        assert_eq!(scale.place(610.0), Some(1.0));
        assert_eq!(Scale::up_to(30.0, 7).ticks, [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        assert_eq!(Scale::up_to(0.0, 4).place(1.0), Some(1.0));
        assert_eq!(Scale::up_to(f64::NAN, 4).place(1.0), Some(1.0));
    }

    #[test]
    fn ticks_of_factors_are_few() {
        assert_eq!(Scale::logarithmic([0.01, 100.0].into_iter()).ticks.len(), 5);
        let labels = |low, high| Scale::logarithmic([low, high].into_iter()).ticks.into_iter().map(tick_label);
        assert_eq!(labels(2.64, 2.69).collect::<Vec<_>>(), ["2.4", "2.6", "2.8"]);
        assert_eq!(labels(0.35, 2.0).collect::<Vec<_>>(), ["0.4", "0.6", "1", "1.5", "2"]);
        assert!(Scale::logarithmic([1e-300, 1e300].into_iter()).ticks.len() <= 8);
        let odd = Scale::logarithmic([0.0, -1.0, f64::NAN].into_iter());
        assert_eq!(odd.place(0.0), None);
    }

    #[test]
    fn places_run_from_end_to_end() {
        let scale = Scale::linear([0.0, 100.0].into_iter(), 5);
        assert_eq!([0.0, 50.0, 100.0].map(|value| scale.place(value)), [Some(0.0), Some(0.5), Some(1.0)]);
        assert_eq!(scale.place(f64::NAN), None);
        let scale = Scale::logarithmic([1.0, 100.0].into_iter());
        assert!((scale.place(10.0).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.6000000000000001, 20.0, 1500.0, 0.05, 1e-5, 2e6].map(tick_label);
        assert_eq!(labels, ["0", "0.6", "20", "1,500", "0.05", "1.00×10⁻⁵", "2.00×10⁶"]);
    }
}
