//! The paper's Figure 4: the accuracy that less expressive recurrences lose.

use cwm_page::{Axis, Figure, Grid, Height, Layer, Panel, PanelRow, Point, Series, Style, Tile, number};

use crate::papers::chess_world_model::facts::{Metric, PaperFacts};
use crate::papers::chess_world_model::figures::{around, family_colour, paper_legend, sizes};
use crate::papers::chess_world_model::model::{Model, SIZES, family_name};
use crate::papers::chess_world_model::results::Results;
use crate::papers::chess_world_model::test_set::TestSet;

/// The paper's main recurrent families, each with its less expressive variant.
const PAIRS: [[&str; 2]; 3] = [["slice", "slice_diag"], ["mamba3", "mamba2"], ["gated_deltanet", "gated_deltanet_pos"]];

/// Returns true if the family is a less expressive variant of another.
pub(super) fn is_ablation(family: &str) -> bool {
    PAIRS.iter().any(|[_, ablation]| *ablation == family)
}

/// Distance between pairs within a size, whose place is 1 wide, and of the two of a pair from its middle: side by side,
/// so that an arrow has room also where they are as good as each other.
const PAIR_STEP: f64 = 0.31;
const BESIDE: f64 = 0.09;

/// A row of panels for what was run here, a panel for each of the paper's test sets, and one for the paper's own models.
/// Each panel has its own vertical axis: pairs that differ by a percent are not seen on one that reaches to 100.
pub(crate) fn ablations(results: &Results, paper: &PaperFacts) -> Figure {
    let pairs = pairs(&results.models);
    let with_pair = |size: &String| pairs.iter().any(|(_, main, _)| results.models[*main].size == *size);
    let sizes: Vec<String> = sizes(&results.models).into_iter().filter(with_pair).collect();
    let papers_sizes = SIZES.map(str::to_owned);
    let tests = TestSet::PAPER.iter().filter_map(|test| Some((test, results.test(test)?)));
    let (ours, theirs): (Vec<Panel>, Vec<Panel>) = tests
        .filter_map(|(test, index)| {
            let ours = pairs.iter().filter_map(|pair| ours(results, index, &sizes, pair)).collect();
            let theirs = of_paper(results, paper, test).collect();
            Some((panel(test, &sizes, ours)?, panel(test, &papers_sizes, theirs)?))
        })
        .unzip();
    let theirs: Vec<Panel> = theirs.into_iter().map(|panel| Panel { title: String::new(), ..panel }).collect();
    let row = |heading: &str, panels| PanelRow {
        heading: heading.to_owned(),
        key: None,
        height: Height::Pixels(200),
        columns: 2,
        panels,
    };
    Figure {
        id: "figure-4".into(),
        title: "Less expressive recurrences".into(),
        paper: Some("Figure 4, Section 4"),
        description: "Exact-state accuracy of each recurrent family (filled marks) and of its less expressive variant \
                      (open marks) of the same size, joined by an arrow from the variant to the family. Within a size \
                      the horizontal place only sets the models apart. Above what was run here, below the paper's own \
                      models in lighter marks; each panel has its own vertical axis. Bars through marks are 95 % \
                      intervals, from games drawn anew; over several runs one standard deviation."
            .into(),
        legend: paper_legend(theirs.iter()),
        rows: if ours.is_empty() { Vec::new() } else { vec![row("This run", ours), row("The paper", theirs)] },
    }
}

/// The main family's mark and its variant's.
type SeriesPair = [Series; 2];

/// The pairs of one test set over these sizes; `None` where there are none.
fn panel(test: &TestSet, sizes: &[String], ends: Vec<SeriesPair>) -> Option<Panel> {
    let points = ends.iter().flatten().flat_map(|series| &series.points);
    let y = Axis::linear("Exact-state accuracy (%)", points.flat_map(Point::heights));
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
    let any = !ends.is_empty();
    layers.extend(ends.into_iter().flat_map(|[main, ablation]| [ablation, main]).map(Layer::Series));
    any.then(|| Panel {
        title: test.to_string(),
        marker: None,
        note: String::new(),
        x: Axis::of_names("Size", sizes.iter().cloned()),
        y,
        grid: Grid::Horizontal,
        layers,
    })
}

/// Returns the pair, and the models that differ in nothing but being one or the other of it.
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

/// Returns the place of a pair's main family among the sizes, or of its variant, left of it.
fn place(sizes: &[impl AsRef<str>], size: &str, pair: usize, main: bool) -> f64 {
    let place = sizes.iter().position(|known| known.as_ref() == size).unwrap_or(0);
    place as f64 + 0.5 + (pair as f64 - 1.0) * PAIR_STEP + if main { BESIDE } else { -BESIDE }
}

/// Returns the value of this run, where both were tested on these games.
fn ours(
    results: &Results,
    test: usize,
    sizes: &[String],
    (pair, main, ablation): &(usize, usize, usize),
) -> Option<SeriesPair> {
    let colour = family_colour(&results.models, PAIRS[*pair][0]);
    let end = |model: &usize, filled: bool| {
        let (described, overall) = (&results.models[*model], results.overall.get(&(*model, test))?);
        let exact = overall.exact;
        let note = format!("{} {}: {} %", described.name(), described.size, number::percent(exact.mean));
        let x = place(sizes, &described.size, *pair, filled);
        let point = Point { x, y: exact.mean * 100.0, range: around(exact, 100.0), note };
        Some(one(family_name(&described.family), Style { filled, ..Style::solid(colour) }, point))
    };
    Some([end(main, true)?, end(ablation, false)?])
}

/// The paper's own, all of them.
fn of_paper(results: &Results, paper: &PaperFacts, test: &TestSet) -> impl Iterator<Item = SeriesPair> {
    let all = SIZES.into_iter().flat_map(|size| (0..PAIRS.len()).map(move |pair| (size, pair)));
    all.filter_map(move |(size, pair)| {
        let [main, ablation] = PAIRS[pair];
        let colour = family_colour(&results.models, main);
        let end = |family: &str, filled: bool| {
            let printed = paper.test_result(family, size, test, &Metric::Exact)?;
            let note = format!("Paper: {} {size}: {} %", family_name(family), printed.text);
            let point = Point { x: place(&SIZES, size, pair, filled), y: printed.value, range: None, note };
            let name = format!("The paper: {}", family_name(family));
            Some(one(&name, Style { filled, light: true, ..Style::solid(colour) }, point))
        };
        Some([end(main, true)?, end(ablation, false)?])
    })
}

fn one(name: &str, style: Style, point: Point) -> Series {
    Series { name: name.to_owned(), style, joined: false, points: vec![point] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::chess_world_model::figures::tests::overall;

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
        let chart = ablations(&results, &PaperFacts::load().unwrap());
        let y = &chart.rows[0].panels[0].y;
        assert!(y.low < -5.0 && y.high > 105.0, "{y:?}");
        // The paper's stand on an axis of their own: 16.67 to 99.96 %.
        let theirs = &chart.rows[1].panels[0];
        assert!(theirs.y.low == 0.0 && (99.96..105.0).contains(&theirs.y.high), "{:?}", theirs.y);
        assert_eq!(theirs.series().count(), 2 * 4 * PAIRS.len());
    }
}
