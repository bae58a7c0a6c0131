//! The paper's Figure 3: loss and exact state against the number of parameters.

use crate::figure::{Axis, Chart, Grid, Height, Layer, Panel, Point, Row, Series, Style};
use crate::figures::ablations::is_ablation;
use crate::figures::{around, distinct, family_colour, legend_name, paper_legend};
use crate::model::{MAIN_FAMILIES, Model, SIZES, family_name};
use crate::number;
use crate::paper::{Metric, Paper};
use crate::results::{Overall, Results};
use crate::spread::Spread;
use crate::test_set::TestSet;

/// What is plotted against the number of parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Loss,
    Exact,
}

impl Measure {
    const BOTH: [Measure; 2] = [Measure::Loss, Measure::Exact];

    fn label(self) -> &'static str {
        match self {
            Measure::Loss => "Loss (nats per label)",
            Measure::Exact => "Exact-state accuracy (%)",
        }
    }

    /// In the unit of the axis.
    fn of(self, overall: &Overall) -> Option<(Spread, f64)> {
        match self {
            Measure::Loss => overall.loss.map(|loss| (loss, 1.0)),
            Measure::Exact => Some((overall.exact, 100.0)),
        }
    }

    fn metric(self) -> Metric {
        match self {
            Measure::Loss => Metric::Loss,
            Measure::Exact => Metric::Exact,
        }
    }

    fn print(self, value: f64) -> String {
        match self {
            Measure::Loss => format!("loss {}", number::loss(value)),
            Measure::Exact => format!("exact state {} %", number::percent(value / 100.0)),
        }
    }

    /// Whether its axis has one: that of the loss grows by factors, and has no zero.
    fn has_place(self, value: f64) -> bool {
        value.is_finite() && (self == Measure::Exact || value > 0.0)
    }

    fn is_better(self, value: f64, than: f64) -> bool {
        match self {
            Measure::Loss => value < than,
            Measure::Exact => value > than,
        }
    }
}

/// A row of panels for each of the paper's test sets, in light the paper's own points.
pub(crate) fn by_parameters(results: &Results, paper: &Paper) -> Chart {
    let tests = TestSet::PAPER.iter().filter_map(|test| Some((test, results.test(test)?)));
    let drawn = tests.map(|(test, index)| {
        let panels = Measure::BOTH.map(|measure| layers(results, paper, (test, index), measure));
        (test.to_string(), panels.into_iter().flatten().collect::<Vec<Drawn>>())
    });
    let drawn: Vec<(String, Vec<Drawn>)> = drawn.filter(|(_, panels)| !panels.is_empty()).collect();
    let points = |drawn: &Drawn| drawn.layers.iter().flat_map(|series| series.points.clone()).collect::<Vec<Point>>();
    let all: Vec<Point> = drawn.iter().flat_map(|(_, panels)| panels.iter().flat_map(points)).collect();
    let x = Axis::logarithmic("", all.iter().map(|point| point.x)).to_round_end();
    let last = drawn.len().saturating_sub(1);
    let row = |(index, (heading, panels)): (usize, (String, Vec<Drawn>))| {
        let panel = |drawn: Drawn| {
            let values = points(&drawn).into_iter().flat_map(|point| point.heights());
            let y = match drawn.measure {
                Measure::Loss => Axis::logarithmic(drawn.measure.label(), values),
                Measure::Exact => Axis::linear(drawn.measure.label(), values),
            };
            let label = if index == last { "Parameters (millions)" } else { "" };
            Panel {
                title: String::new(),
                about: None,
                note: drawn.note,
                x: Axis { label: label.into(), ..x.clone() },
                y,
                grid: Grid::Both,
                layers: drawn.layers.into_iter().map(Layer::Series).collect(),
            }
        };
        let panels = panels.into_iter().map(panel).collect();
        Row { heading, key: None, height: Height::Pixels(220), columns: 2, panels }
    };
    let rows: Vec<Row> = drawn.into_iter().enumerate().map(row).collect();
    let legend = paper_legend(rows.iter().flat_map(|row| &row.panels));
    Chart {
        id: "figure-3".into(),
        title: "Test performance against parameters".into(),
        paper: Some("Figure 3, Section 4"),
        description: "Loss (left) and exact-state accuracy (right) of each model against its number of parameters, in \
                      colours by family. The dashed line is the Pareto frontier: models that no smaller one surpasses. \
                      The paper's own models and their frontier stand behind in lighter marks; less expressive \
                      variants are in Figure 4. Bars through marks are 95 % intervals, from games drawn anew; over \
                      several runs one standard deviation; where that reaches down to no loss at all, to the end of the \
                      axis."
            .into(),
        rows,
        legend,
    }
}

/// What one panel shows.
struct Drawn {
    measure: Measure,
    layers: Vec<Series>,
    note: String,
}

fn layers(results: &Results, paper: &Paper, (test, index): (&TestSet, usize), measure: Measure) -> Option<Drawn> {
    let models: Vec<&Model> = results.models.iter().filter(|model| !is_ablation(&model.family)).collect();
    let mut ours: Vec<Series> = Vec::new();
    let mut missing = 0;
    for family in distinct(models.iter().map(|model| model.family.as_str())) {
        let mut points = Vec::new();
        for (place, model) in results.models.iter().enumerate().filter(|(_, model)| model.family == family) {
            let Some((spread, unit)) = results.overall.get(&(place, index)).and_then(|overall| measure.of(overall))
            else {
                continue;
            };
            let (Some(parameters), true) = (results.parameters[place], measure.has_place(spread.mean)) else {
                missing += 1;
                continue;
            };
            let note = format!(
                "{}, {} M parameters: {}",
                legend_name(model),
                number::millions(parameters),
                measure.print(spread.mean * unit)
            );
            points.push(Point { x: parameters as f64 / 1e6, y: spread.mean * unit, range: around(spread, unit), note });
        }
        if !points.is_empty() {
            let style = Style::solid(family_colour(&results.models, family));
            ours.push(Series { name: family_name(family).to_owned(), style, joined: false, points });
        }
    }
    if ours.is_empty() {
        return None;
    }
    let theirs: Vec<Series> =
        MAIN_FAMILIES.iter().map(|family| of_paper(results, paper, family, test, measure)).collect();
    let mut layers = vec![frontier(&theirs, measure, "", true)];
    layers.extend(theirs);
    layers.push(frontier(&ours, measure, "Pareto frontier", false));
    layers.extend(ours);
    let note = match missing {
        0 => String::new(),
        1 => "1 model has no place here".to_owned(),
        more => format!("{more} models have no place here"),
    };
    Some(Drawn { measure, layers, note })
}

fn of_paper(results: &Results, paper: &Paper, family: &str, test: &TestSet, measure: Measure) -> Series {
    let point = |size: &&str| {
        let parameters = paper.parameters(family, size)?;
        let printed = paper.test_result(family, size, test, &measure.metric())?;
        let note = format!(
            "Paper: {} {size}, {} M parameters: {}",
            family_name(family),
            parameters.text,
            measure.print(printed.value)
        );
        Some(Point { x: parameters.value, y: printed.value, range: None, note })
    };
    let style = Style { light: true, ..Style::solid(family_colour(&results.models, family)) };
    Series { name: String::new(), style, joined: false, points: SIZES.iter().filter_map(point).collect() }
}

/// The models that none with as many parameters or fewer surpasses, joined.
fn frontier(of: &[Series], measure: Measure, name: &str, light: bool) -> Series {
    let mut points: Vec<&Point> = of.iter().flat_map(|series| &series.points).collect();
    // Of equally large models the better one comes first.
    points.sort_by(|a, b| {
        let better = if measure == Measure::Loss { a.y.total_cmp(&b.y) } else { b.y.total_cmp(&a.y) };
        a.x.total_cmp(&b.x).then(better)
    });
    let mut best: Vec<Point> = Vec::new();
    for point in points {
        if best.last().is_none_or(|last| measure.is_better(point.y, last.y)) {
            best.push(Point { x: point.x, y: point.y, ..Point::default() });
        }
    }
    let style = Style { colour: None, dash: 1, light, ..Style::solid(0) };
    Series { name: name.to_owned(), style, joined: true, points: best }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::overall;

    fn points(values: &[(f64, f64)]) -> Vec<Series> {
        let points = values.iter().map(|(x, y)| Point { x: *x, y: *y, ..Point::default() }).collect();
        vec![Series { name: String::new(), style: Style::solid(0), joined: false, points }]
    }

    #[test]
    fn the_frontier_holds_what_no_smaller_model_surpasses() {
        let of = points(&[(1.0, 20.0), (1.0, 30.0), (2.0, 25.0), (3.0, 30.0), (4.0, 70.0)]);
        let on = |measure| -> Vec<(f64, f64)> {
            frontier(&of, measure, "", false).points.iter().map(|point| (point.x, point.y)).collect()
        };
        assert_eq!(on(Measure::Exact), [(1.0, 30.0), (4.0, 70.0)]);
        assert_eq!(on(Measure::Loss), [(1.0, 20.0)]);
    }

    #[test]
    fn bars_have_room_and_no_loss_has_no_place() {
        let overall = [overall((0.0, 0.0), (0.5, 0.0)), overall((50.0, 45.0), (0.5, 0.55))];
        let results = Results {
            models: ["d8/l1", "d16/l1"].map(|size| Model::new("e", "slice", size)).into(),
            parameters: vec![Some(1_000_000), Some(2_000_000)],
            tests: vec![TestSet::HeldOut],
            overall: overall.into_iter().enumerate().map(|(model, overall)| ((model, 0), overall)).collect(),
            ..Results::default()
        };
        let chart = by_parameters(&results, &Paper::load().unwrap());
        let [loss, exact] = chart.rows[0].panels.as_slice() else { panic!("{chart:?}") };
        assert_eq!((loss.note.as_str(), exact.note.as_str()), ("1 model has no place here", ""));
        assert!(loss.y.high > 95.0 && exact.y.low < -5.0 && exact.y.high > 105.0, "{:?} {:?}", loss.y, exact.y);
    }
}
