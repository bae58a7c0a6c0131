//! The paper's Figure 4: what less expressive recurrences cost.

use crate::figure::{Axis, Chart, Grid, Layer, Panel, Point, Series, Style, Tile};
use crate::figures::{around, family_colour, paper_legend, rows, sizes};
use crate::model::{Model, family_name};
use crate::number;
use crate::paper::{Metric, Paper};
use crate::results::Results;
use crate::test_set::TestSet;

/// The paper's main recurrent families, each with its less expressive variant.
const PAIRS: [[&str; 2]; 3] = [["slice", "slice_diag"], ["mamba3", "mamba2"], ["gated_deltanet", "gated_deltanet_pos"]];

/// Whether the family is a less expressive variant of another.
pub(super) fn is_ablation(family: &str) -> bool {
    PAIRS.iter().any(|[_, ablation]| *ablation == family)
}

/// Distance between pairs within a size, whose place is 1 wide, and where in a pair's place ours and the paper's stand.
const PAIR_STEP: f64 = 0.28;
const OURS: f64 = -0.045;
const PAPERS: f64 = 0.075;

/// A panel for each of the paper's test sets; within each size the three pairs, the paper's beside ours.
pub(crate) fn ablations(results: &Results, paper: &Paper) -> Chart {
    let pairs = pairs(&results.models);
    let with_pair = |size: &String| pairs.iter().any(|(_, main, _)| results.models[*main].size == *size);
    let sizes: Vec<String> = sizes(&results.models).into_iter().filter(with_pair).collect();
    let tests = TestSet::PAPER.iter().filter_map(|test| Some((test, results.test(test)?)));
    let panels = tests.map(|(test, index)| Panel {
        title: test.to_string(),
        about: None,
        note: String::new(),
        x: Axis::of_names("", sizes.iter().cloned()),
        y: Axis::linear("", std::iter::empty()),
        grid: Grid::Horizontal,
        layers: layers(results, paper, (test, index), &sizes, &pairs),
    });
    let panels: Vec<Panel> = panels.filter(|panel| panel.series().next().is_some()).collect();
    let legend = paper_legend(panels.iter());
    let points = panels.iter().flat_map(|panel| panel.series()).flat_map(|series| &series.points);
    let y = Axis::linear("Exact-state accuracy (%)", points.flat_map(Point::heights));
    Chart {
        id: "figure-4".into(),
        title: "Less expressive recurrences".into(),
        paper: Some("Figure 4, Section 4"),
        description: "Exact-state accuracy of each recurrent family (filled marks) and of its less expressive variant \
                      (open marks) of the same size, joined by an arrow from the variant to the family, or by a \
                      line alone where they are too near for one. Within a size \
                      the horizontal place only sets the pairs apart. The paper's own stand to the right of ours in \
                      lighter marks. Bars through marks are 95 % intervals, from games drawn anew; over several runs \
                      one standard deviation."
            .into(),
        rows: rows(vec![(String::new(), panels)], 2, &y, "Size"),
        legend,
    }
}

/// Which pair, and the models that differ in nothing but being one or the other of it.
fn pairs(models: &[Model]) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    for (pair, [main, ablation]) in PAIRS.iter().enumerate() {
        let of = |family: &'static str| models.iter().enumerate().filter(move |(_, model)| model.family == family);
        for (first, model) in of(main) {
            let like = |other: &Model| other.size == model.size && other.variant() == model.variant();
            found.extend(of(ablation).filter(|(_, other)| like(other)).map(|(second, _)| (pair, first, second)));
        }
    }
    found
}

fn layers(
    results: &Results,
    paper: &Paper,
    (test, index): (&TestSet, usize),
    sizes: &[String],
    pairs: &[(usize, usize, usize)],
) -> Vec<Layer> {
    let mut ends: Vec<[Series; 2]> = Vec::new();
    for (pair, main, ablation) in pairs {
        let place = sizes.iter().position(|size| *size == results.models[*main].size).unwrap_or(0);
        let middle = place as f64 + 0.5 + (*pair as f64 - 1.0) * PAIR_STEP;
        let colour = family_colour(&results.models, PAIRS[*pair][0]);
        let series = |model: &usize, filled: bool| {
            let (described, overall) = (&results.models[*model], results.overall.get(&(*model, index))?);
            let exact = overall.exact;
            let note = format!("{} {}: {} %", described.name(), described.size, number::percent(exact.mean));
            let point = Point { x: middle + OURS, y: exact.mean * 100.0, range: around(exact, 100.0), note };
            Some(one(family_name(&described.family), Style { filled, ..Style::solid(colour) }, point))
        };
        ends.extend(series(main, true).zip(series(ablation, false)).map(|(main, ablation)| [main, ablation]));
        let size = &results.models[*main].size;
        let theirs = |family: &str, filled: bool| {
            let printed = paper.test_result(family, size, test, &Metric::Exact)?;
            let note = format!("Paper: {} {size}: {} %", family_name(family), printed.text);
            let point = Point { x: middle + PAPERS, y: printed.value, range: None, note };
            Some(one("", Style { filled, light: true, ..Style::solid(colour) }, point))
        };
        let [main, ablation] = PAIRS[*pair];
        ends.extend(theirs(main, true).zip(theirs(ablation, false)).map(|(main, ablation)| [main, ablation]));
    }
    if !ends.iter().flatten().any(|series| !series.style.light) {
        return Vec::new();
    }
    let shades = (0..sizes.len()).map(|place| {
        Layer::Tile(Tile {
            x: (place as f64 + 0.03, place as f64 + 0.97),
            y: (f64::MIN, f64::MAX),
            colour: None,
            strength: 0.3,
            value: None,
            note: String::new(),
        })
    });
    let arrows = ends.iter().map(|[main, ablation]| {
        let at = |series: &Series| (series.points[0].x, series.points[0].y);
        Layer::Arrow { from: at(ablation), to: at(main), style: main.style }
    });
    let mut layers: Vec<Layer> = shades.chain(arrows).collect();
    // Where both are the same the family lies inside its variant's open mark.
    layers.extend(ends.into_iter().flat_map(|[main, ablation]| [ablation, main]).map(Layer::Series));
    layers
}

fn one(name: &str, style: Style, point: Point) -> Series {
    Series { name: name.to_owned(), style, joined: false, points: vec![point] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::overall;

    #[test]
    fn pairs_differ_in_the_family_alone() {
        let model = |family: &str, size: &str, lr: &str| {
            Model::new(&format!("e[family={family},size={size},lr={lr}]"), family, size)
        };
        let models = [
            model("slice", "d8/l1", "1"),
            model("slice", "d8/l1", "2"),
            model("slice", "d9/l1", "1"),
            model("mamba3", "d8/l1", "1"),
            model("slice_diag", "d8/l1", "2"),
            model("mamba2", "d8/l1", "1"),
            model("transformer", "d8/l1", "1"),
        ];
        assert_eq!(pairs(&models), [(0, 1, 4), (1, 3, 5)]);
        assert!(is_ablation("mamba2") && !is_ablation("mamba3"));
    }

    #[test]
    fn bars_have_room() {
        let overall = [overall((1.0, 0.1), (0.5, 0.55)), overall((1.0, 0.1), (0.25, 0.01))];
        let results = Results {
            models: ["slice", "slice_diag"].map(|family| Model::new("e", family, "d128/l1")).into(),
            parameters: vec![None; 2],
            tests: vec![TestSet::HeldOut],
            overall: overall.into_iter().enumerate().map(|(model, overall)| ((model, 0), overall)).collect(),
            ..Results::default()
        };
        let chart = ablations(&results, &Paper::load().unwrap());
        let y = &chart.rows[0].panels[0].y;
        assert!(y.low < -5.0 && y.high > 105.0, "{y:?}");
    }
}
