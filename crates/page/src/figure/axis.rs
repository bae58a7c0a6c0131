//! An axis: its range, its ticks, and the place of a number on it.

/// The growth of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleKind {
    /// Evenly.
    Linear,
    /// By factors; only positive numbers have a place.
    Logarithmic,
}

/// An axis over low..=high, with room at its ends where the numbers do not end it.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity with its unit; may be empty.
    pub label: String,
    /// The growth of the axis.
    pub kind: ScaleKind,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The places and texts of the ticks; if empty, round numbers are chosen.
    pub ticks: Vec<(f64, String)>,
    /// True if its numbers are written; a row of panels may share one vertical axis.
    pub shown: bool,
}

/// The largest number that has a place on an axis: beyond it the computation of ticks would overflow.
const FARTHEST: f64 = 1e100;

impl Axis {
    fn new(label: &str, kind: ScaleKind, low: f64, high: f64) -> Self {
        Axis { label: label.to_owned(), kind, low, high, ticks: Vec::new(), shown: true }
    }

    /// A linear axis over all of `values`. It begins at 0 unless they lie far above it.
    pub fn linear(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values).unwrap_or((0.0, 1.0));
        let low = if low >= 0.0 && low < high / 2.0 { 0.0 } else { low };
        // A single value gets some room around it.
        let least = low.abs().max(high.abs()) / 1000.0;
        let room = if high - low > least { (high - low) * 0.04 } else { least * 50.0 };
        let (low, high) = (if low == 0.0 { 0.0 } else { low - room }, high + room);
        Axis::new(label, ScaleKind::Linear, low, if high > low { high } else { low + 1.0 })
    }

    /// A linear axis from 0 to exactly `end`.
    pub fn up_to(label: &str, end: f64) -> Self {
        let high = if end.is_finite() && end > 0.0 { end.min(FARTHEST) } else { 1.0 };
        Axis::new(label, ScaleKind::Linear, 0.0, high)
    }

    /// A logarithmic axis over the positive ones of `values`.
    pub fn logarithmic(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values.filter(|value| *value >= 1.0 / FARTHEST)).unwrap_or((0.1, 1.0));
        let room = (high / low).powf(0.04).max(1.05);
        Axis::new(label, ScaleKind::Logarithmic, low / room, high * room)
    }

    /// Extends the axis to the next round number, where that is near: a logarithmic axis would otherwise end without a
    /// tick.
    pub fn to_round_end(self) -> Self {
        let decade = 10f64.powi(self.high.log10().floor() as i32);
        let next = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade).into_iter().find(|end| *end >= self.high);
        let near = next.filter(|end| self.kind == ScaleKind::Logarithmic && *end <= self.high * 1.5);
        Axis { high: near.unwrap_or(self.high), ..self }
    }

    /// An axis with a place from i to i + 1 for each name, which stands in its middle.
    pub fn of_names(label: &str, names: impl Iterator<Item = String>) -> Self {
        let ticks: Vec<(f64, String)> = names.enumerate().map(|(at, name)| (at as f64 + 0.5, name)).collect();
        Axis { ticks: ticks.clone(), ..Axis::new(label, ScaleKind::Linear, 0.0, ticks.len().max(1) as f64) }
    }

    /// Hides the numbers of the axis unless `shown`, as they stand elsewhere.
    pub fn shown(self, shown: bool) -> Self {
        Axis { shown, ..self }
    }

    /// The number as far as the axis goes; `None` if it has no place on it.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let has_place = value.is_finite() && (self.kind == ScaleKind::Linear || value > 0.0);
        has_place.then(|| value.clamp(self.low, self.high))
    }

    /// Ticks and their labels: at most about `most` where numbers are chosen.
    pub(super) fn choose_ticks(&self, most: usize) -> Vec<(f64, String)> {
        if !self.ticks.is_empty() {
            return self.ticks.clone();
        }
        let evenly = || even_ticks(self.low, self.high, most);
        let values = match self.kind {
            ScaleKind::Linear => evenly(),
            ScaleKind::Logarithmic => {
                // Within less than a factor of two or so, evenly spaced numbers read better; over a decade all of them would stand
                // at its upper end.
                let factors = factors(self.low, self.high, most);
                let enough = if self.high >= 10.0 * self.low { 2 } else { 3 };
                if factors.len() < enough { evenly() } else { factors }
            }
        };
        values.into_iter().map(|value| (value, tick_label(value))).collect()
    }

    /// Returns the coordinate of a number between those of the two ends of the axis.
    pub(super) fn coordinate(&self, value: f64, (start, end): (i32, i32)) -> i32 {
        let scaled = |value: f64| if self.kind == ScaleKind::Linear { value } else { value.ln() };
        let (low, high) = (scaled(self.low), scaled(self.high));
        let way = f64::from(end - start) * (scaled(value) - low) / (high - low);
        // Towards the start, with some tolerance, so that rounding errors move nothing.
        start + if end >= start { (way + 1e-3).floor() } else { (way - 1e-3).ceil() } as i32
    }
}

/// The most round numbers at equal steps of 1, 2 or 5 times a power of ten from `low` to `high` that are not more than `most`.
fn even_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let decade = (high - low).log10().floor() as i32;
    let steps = (-1..=decade.abs() + 2).flat_map(|below| [10.0, 5.0, 2.0].map(|factor| (factor, decade - below)));
    let ticks = |(factor, exponent): (f64, i32)| -> Vec<f64> {
        let step = factor * 10f64.powi(exponent);
        // With some tolerance, so that a tick at an end of the axis counts.
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let all = (0..=(last - first).clamp(-1.0, 2.0 * most as f64) as i64).map(|number| first + number as f64);
        // Divided where the step is a fraction: 3 / 10 is 0.3, and 3 * 0.1 is not.
        let place = |number: f64| match exponent < 0 {
            true => number * factor / 10f64.powi(-exponent),
            false => number * step,
        };
        all.map(place).collect()
    };
    steps.map(ticks).take_while(|ticks| ticks.len() <= most).last().unwrap_or_default()
}

/// A few round numbers between `low` and `high`, by factors.
fn factors(low: f64, high: f64, most: usize) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let at = |factors: &[f64]| -> Vec<f64> {
        let all = decades.clone().flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)));
        all.filter(|tick| (low..=high).contains(tick)).collect()
    };
    let choices = [at(&[1.0, 1.5, 2.0, 3.0, 4.0, 6.0]), at(&[1.0, 2.0, 5.0]), at(&[1.0, 3.0]), at(&[1.0])];
    let [.., whole] = &choices;
    let every = whole.len().div_ceil(most.max(1)).max(1);
    let fitting = choices.iter().find(|ticks| ticks.len() <= most).cloned();
    fitting.unwrap_or_else(|| whole.iter().copied().step_by(every).collect())
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.abs() <= FARTHEST).fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// A tick's number in few characters.
fn tick_label(value: f64) -> String {
    let thousandths = (value * 1e4).round();
    match value.abs() {
        large if large >= 1e7 => power(value),
        tiny if tiny < 1e-4 && tiny > 0.0 => power(value),
        whole if whole >= 1.0 && (value - value.round()).abs() < 1e-6 => {
            let sign = if value < 0.0 { "−" } else { "" };
            format!("{sign}{}", crate::number::count(whole.round() as u64))
        }
        _ if thousandths == 0.0 => "0".to_owned(),
        _ => {
            let text = format!("{value:.4}").replace('-', "−");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// `3×10⁻⁵`, and `10⁻⁵` for a whole power.
fn power(value: f64) -> String {
    let text = crate::number::power_of_ten(value);
    let (mantissa, exponent) = text.split_once('×').unwrap_or((&text, ""));
    match mantissa.trim_end_matches('0').trim_end_matches('.') {
        "1" => exponent.to_owned(),
        mantissa => format!("{mantissa}×{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, most: usize) -> Vec<String> {
        axis.choose_ticks(most).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn even_ticks_are_round() {
        let check = |values: &[f64], expected: &[&str]| {
            assert_eq!(labels(&Axis::linear("", values.iter().copied()), 6), expected, "{values:?}");
        };
        check(&[3.0, 97.0], &["0", "20", "40", "60", "80", "100"]);
        check(&[0.0, 100.0], &["0", "20", "40", "60", "80", "100"]);
        check(&[71.0, 88.0], &["75", "80", "85"]);
        check(&[0.0, 0.3], &["0", "0.1", "0.2", "0.3"]);
        check(&[], &["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        check(&[0.0], &["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        check(&[f64::NAN, 1e300, f64::INFINITY, 10.0], &["9.6", "9.8", "10", "10.2", "10.4"]);
    }

    #[test]
    fn an_axis_may_end_between_ticks() {
        let axis = Axis::up_to("", 610.0);
        assert_eq!(labels(&axis, 7), ["0", "100", "200", "300", "400", "500", "600"]);
        assert_eq!((axis.place(610.0), axis.place(700.0)), (Some(610.0), Some(610.0)));
        assert_eq!(Axis::up_to("", f64::NAN).high, 1.0);
        assert_eq!(labels(&Axis::up_to("", 310_944.0), 4), ["0", "100,000", "200,000", "300,000"]);
    }

    #[test]
    fn ticks_of_factors_are_few() {
        let labels = |low, high, most| labels(&Axis::logarithmic("", [low, high].into_iter()), most);
        assert_eq!(labels(0.01, 100.0, 8), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(3.03, 40.83, 8), ["3", "4", "6", "10", "15", "20", "30", "40"]);
        assert_eq!(labels(3.03, 40.83, 5), ["5", "10", "20"]);
        assert_eq!(labels(2.64, 2.69, 5), ["2.6", "2.7", "2.8"]);
        // Narrow panels over long games.
        assert_eq!(labels(2.5, 612.0, 3), ["10", "100"]);
        assert_eq!(labels(2.5, 612.0, 4), ["10", "100"]);
        assert_eq!(labels(2.5, 112.0, 4), ["3", "10", "30", "100"]);
        assert_eq!(labels(3e-7, 2.0, 8), ["10⁻⁶", "10⁻⁵", "0.0001", "0.001", "0.01", "0.1", "1"]);
        assert!(labels(1e-99, 1e99, 8).len() <= 8);
        let odd = Axis::logarithmic("", [0.0, -1.0, f64::NAN].into_iter());
        assert_eq!((odd.place(0.0), odd.place(f64::INFINITY)), (None, None));
    }

    #[test]
    fn a_round_number_that_is_near_ends_the_axis() {
        let end = |high: f64| Axis::logarithmic("", [0.3, high].into_iter()).to_round_end().high;
        assert_eq!((end(40.83), end(1.8), end(8.0)), (50.0, 2.0, 10.0));
        let far = Axis::logarithmic("", [0.3, 20.0].into_iter());
        assert_eq!(far.clone().to_round_end(), far);
    }

    #[test]
    fn places_run_from_end_to_end() {
        let at = |axis: &Axis, value| axis.coordinate(value, (100, 1100));
        let even = Axis::up_to("", 50.0);
        assert_eq!([0.0, 25.0, 50.0].map(|value| at(&even, value)), [100, 600, 1100]);
        let factors = Axis { low: 1.0, high: 100.0, ..Axis::logarithmic("", [1.0].into_iter()) };
        assert_eq!([1.0, 10.0, 100.0].map(|value| at(&factors, value)), [100, 600, 1100]);
    }

    #[test]
    fn labels_are_short() {
        let values = [0.0, 0.6000000000000001, 20.0, 1500.0, 0.05, 1e-5, 2e7, 2.5e-5, -3.0, -0.25, 1e-19];
        let labels = values.map(tick_label);
        assert_eq!(labels, ["0", "0.6", "20", "1,500", "0.05", "10⁻⁵", "2×10⁷", "2.5×10⁻⁵", "−3", "−0.25", "10⁻¹⁹"]);
    }
}
