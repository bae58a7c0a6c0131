//! The paper's Figure 3: loss and exact state against the number of parameters.

use cwm_page::{Axis, Figure, Grid, Height, Layer, MeanStd, Panel, PanelRow, Point, Series, Style, number};

use crate::papers::chess_world_model::facts::{Metric, PaperFacts};
use crate::papers::chess_world_model::figures::ablations::is_ablation;
use crate::papers::chess_world_model::figures::{around, distinct, family_colour, legend_name, paper_legend};
use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::model::{MAIN_FAMILIES, Model, SIZES, family_name};
use crate::papers::chess_world_model::results::{Overall, Results};
use crate::papers::chess_world_model::test_set::TestSet;

/// The quantity that is plotted against the number of parameters.
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

    fn axis(self, values: impl Iterator<Item = f64>) -> Axis {
        match self {
            Measure::Loss => Axis::logarithmic(self.label(), values),
            Measure::Exact => Axis::linear(self.label(), values),
        }
    }

    /// Returns the value, and the factor to the unit of the axis.
    fn of(self, overall: &Overall) -> Option<(MeanStd, f64)> {
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
            Measure::Loss => format!("loss {}", format::loss(value)),
            Measure::Exact => format!("exact state {} %", number::percent(value / 100.0)),
        }
    }

    /// Returns true if the value has a place on the axis: that of the loss grows by factors, and has no zero.
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

/// The share of an axis for both that ours have to take up so that the paper's own models are drawn behind them: on
/// less of it they would be one heap.
const MIN_SHARE_OF_AXIS: f64 = 1.0 / 3.0;

/// A row of panels for each of the paper's test sets. The paper's own models stand behind ours where both are of one scale,
/// else in rows of their own below.
pub(crate) fn by_parameters(results: &Results, paper: &PaperFacts) -> Figure {
    let tests = TestSet::PAPER.iter().filter_map(|test| Some((test, results.test(test)?)));
    let data = tests.map(|(test, index)| {
        let panels = Measure::BOTH.map(|measure| panel_data(results, paper, (test, index), measure));
        (test.to_string(), panels.into_iter().flatten().collect::<Vec<PanelData>>())
    });
    let data: Vec<(String, Vec<PanelData>)> = data.filter(|(_, panels)| !panels.is_empty()).collect();
    let together = data.iter().flat_map(|(_, panels)| panels).all(PanelData::is_of_one_scale);
    let where_theirs_are = match together {
        true => "The paper's own models and their frontier stand behind in lighter marks",
        false => "The paper's own models stand in rows of their own, in lighter marks, since both are not of one scale",
    };
    let mut rows = rows(&data, if together { "" } else { "This run: " }, HEIGHT, |data| match together {
        true => data.theirs.iter().chain(&data.ours).collect(),
        false => data.ours.iter().collect(),
    });
    if !together {
        rows.extend(self::rows(&data, "The paper: ", PAPERS_HEIGHT, |data| data.theirs.iter().collect()));
    }
    for panel in rows.last_mut().into_iter().flat_map(|row| &mut row.panels) {
        panel.x.label = "Parameters (millions)".into();
    }
    let legend = paper_legend(rows.iter().flat_map(|row| &row.panels));
    Figure {
        id: "figure-3".into(),
        title: "Test performance against parameters".into(),
        paper: Some("Figure 3, Section 4"),
        description: format!(
            "Loss (left) and exact-state accuracy (right) of each model against its number of parameters, in colours by \
             family. The dashed line is the Pareto frontier: models that no smaller one surpasses. {where_theirs_are}; \
             less expressive variants are in Figure 4. Bars through marks are 95 % intervals, from games drawn anew; over \
             several runs one standard deviation; where that reaches down to no loss at all, to the end of the axis."
        ),
        rows,
        legend,
    }
}

/// Pixels of a row's plots, of ours and of the paper's own.
const HEIGHT: u32 = 220;
const PAPERS_HEIGHT: u32 = 160;

/// A row for each test set, with those of its series that `shown` takes; all have one horizontal axis, and each panel has a
/// vertical one of its own.
fn rows(
    data: &[(String, Vec<PanelData>)],
    before: &str,
    height: u32,
    shown: impl Fn(&PanelData) -> Vec<&Series>,
) -> Vec<PanelRow> {
    let all = data.iter().flat_map(|(_, panels)| panels).flat_map(&shown).flat_map(|series| &series.points);
    let x = Axis::logarithmic("", all.map(|point| point.x)).to_round_end();
    let panel = |data: &PanelData| {
        let layers = shown(data);
        let values = layers.iter().flat_map(|series| &series.points).flat_map(|point| point.heights());
        Panel {
            title: String::new(),
            marker: None,
            note: if layers.iter().any(|series| !series.style.light) { data.note.clone() } else { String::new() },
            x: x.clone(),
            y: data.measure.axis(values),
            grid: Grid::Both,
            layers: layers.into_iter().cloned().map(Layer::Series).collect(),
        }
    };
    let row = |(test, panels): &(String, Vec<PanelData>)| PanelRow {
        heading: format!("{before}{test}"),
        key: None,
        height: Height::Pixels(height),
        columns: 2,
        panels: panels.iter().map(panel).collect(),
    };
    data.iter().map(row).collect()
}

/// The contents of one panel.
struct PanelData {
    measure: Measure,
    ours: Vec<Series>,
    theirs: Vec<Series>,
    note: String,
}

impl PanelData {
    /// Returns true if ours are spread over enough of the axes that the paper's own need.
    fn is_of_one_scale(&self) -> bool {
        let spread = |series: &[&[Series]], read: &dyn Fn(&Point) -> f64| {
            let values = series.iter().flat_map(|series| series.iter()).flat_map(|series| &series.points).map(read);
            let ends = values.filter(|value| value.is_finite());
            let (low, high) =
                ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
            (high - low).max(0.0)
        };
        let height = |point: &Point| match self.measure {
            Measure::Loss => point.y.ln(),
            Measure::Exact => point.y,
        };
        let place = |point: &Point| point.x.ln();
        [&height as &dyn Fn(&Point) -> f64, &place].into_iter().all(|read| {
            let all = spread(&[&self.ours, &self.theirs], read);
            spread(&[&self.ours], read) >= MIN_SHARE_OF_AXIS * all
        })
    }
}

fn panel_data(
    results: &Results,
    paper: &PaperFacts,
    (test, index): (&TestSet, usize),
    measure: Measure,
) -> Option<PanelData> {
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
                format::millions(parameters),
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
    let with_frontier = |series: Vec<Series>, name, light| {
        std::iter::once(frontier(&series, measure, name, light)).chain(series).collect()
    };
    let (ours, theirs) =
        (with_frontier(ours, "Pareto frontier", false), with_frontier(theirs, "The paper: Pareto frontier", true));
    let note = match missing {
        0 => String::new(),
        1 => "1 model has no place here".to_owned(),
        more => format!("{more} models have no place here"),
    };
    Some(PanelData { measure, ours, theirs, note })
}

fn of_paper(results: &Results, paper: &PaperFacts, family: &str, test: &TestSet, measure: Measure) -> Series {
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
    let name = format!("The paper: {}", family_name(family));
    Series { name, style, joined: false, points: SIZES.iter().filter_map(point).collect() }
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
    use crate::papers::chess_world_model::figures::tests::overall;

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

    /// Results of SLiCE models: parameters in hundreds of thousands, loss, exact state.
    fn results(models: &[(u64, f64, f64)]) -> Results {
        let overall = models.iter().map(|(_, loss, exact)| overall((*loss, 0.0), (*exact, 0.0)));
        Results {
            models: (0..models.len()).map(|at| Model::new("e", "slice", &format!("d{}/l1", at + 1))).collect(),
            parameters: models.iter().map(|(parameters, ..)| Some(parameters * 100_000)).collect(),
            tests: vec![TestSet::HeldOut],
            overall: overall.enumerate().map(|(model, overall)| ((model, 0), overall)).collect(),
            ..Results::default()
        }
    }

    #[test]
    fn the_papers_models_stand_behind_ours_or_below() {
        let check = |models: &[(u64, f64, f64)], headings: &[&str]| {
            let chart = by_parameters(&results(models), &PaperFacts::load().unwrap());
            let found: Vec<&str> = chart.rows.iter().map(|row| row.heading.as_str()).collect();
            assert_eq!(found, headings);
            chart
        };
        // As large and as good as the paper's.
        let chart = check(&[(31, 0.13, 0.3), (400, 2e-5, 0.9999)], &["Held-out games"]);
        assert_eq!(chart.rows[0].panels[1].series().count(), 1 + 4 + 1 + 1);
        // Small ones; and large ones that are all bad.
        for models in [[(1, 0.5, 0.02), (6, 0.4, 0.05)], [(31, 0.5, 0.02), (400, 0.4, 0.05)]] {
            let chart = check(&models, &["This run: Held-out games", "The paper: Held-out games"]);
            let [ours, theirs] = chart.rows.as_slice() else { panic!("{chart:?}") };
            assert!(ours.panels[1].y.high < 6.0 && theirs.panels[1].y.high > 90.0, "{chart:?}");
            assert!(ours.panels.iter().flat_map(Panel::series).all(|series| !series.style.light));
            assert!(theirs.panels.iter().flat_map(Panel::series).all(|series| series.style.light));
        }
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
        let chart = by_parameters(&results, &PaperFacts::load().unwrap());
        let [loss, exact] = chart.rows[0].panels.as_slice() else { panic!("{chart:?}") };
        assert_eq!((loss.note.as_str(), exact.note.as_str()), ("1 model has no place here", ""));
        assert!(loss.y.high > 95.0 && exact.y.low < -5.0 && exact.y.high > 105.0, "{:?} {:?}", loss.y, exact.y);
    }
}
