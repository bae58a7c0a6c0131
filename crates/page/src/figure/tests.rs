//! Any figure, as it is drawn and written.

use super::canvas::Shape;
use super::*;

fn panel(series: Vec<Series>) -> Panel {
    let end = series.iter().flat_map(|series| &series.points).map(|point| point.x).fold(0.0, f64::max);
    let y = Axis::linear("y", series.iter().flat_map(|series| &series.points).map(|point| point.y));
    Panel {
        title: "p<s>".into(),
        marker: None,
        note: "<u>".into(),
        x: Axis::up_to("x", end),
        y,
        grid: Grid::Horizontal,
        layers: series.into_iter().map(Layer::Series).collect(),
    }
}

fn figure(series: Vec<Series>) -> Figure {
    Figure {
        id: "f".into(),
        title: "<script>".into(),
        description: "a & b".into(),
        rows: vec![PanelRow {
            heading: "<em>".into(),
            key: None,
            height: Height::Pixels(270),
            columns: 1,
            panels: vec![panel(series)],
        }],
        ..Figure::default()
    }
}

fn line(values: &[f64]) -> Series {
    let point = |(x, y): (usize, &f64)| Point { x: x as f64, y: *y, range: None, note: "<i>\"'".into() };
    Series {
        name: "<b>".into(),
        style: Style::solid(1),
        joined: true,
        points: values.iter().enumerate().map(point).collect(),
    }
}

/// The lines in a series' colour, but for the legend's sample, which is last.
fn curves(figure: &Figure) -> Vec<Vec<(i32, i32)>> {
    let of_series = |shape: &Shape| match shape {
        Shape::Line { points, paint, .. } if paint.role == paint::ColourRole::Series(1) => Some(points.clone()),
        _ => None,
    };
    let mut curves: Vec<_> = figure.draw().shapes.iter().filter_map(of_series).collect();
    curves.pop();
    curves
}

#[test]
fn text_is_escaped() {
    let svg = figure(vec![line(&[1.0, 2.0])]).standalone_svg();
    for tag in ["<script", "<b>", "<i>", "<u>", "<s>", "<em>"] {
        assert!(!svg.contains(tag), "{tag}");
    }
    assert!(svg.contains("<title>&lt;i&gt;&quot;&#39;</title>") && svg.contains("&lt;b&gt;</text>"));
}

#[test]
fn what_is_not_finite_interrupts_the_line() {
    let figure = figure(vec![line(&[1.0, 2.0, f64::INFINITY, 3.0, 4.0, f64::NAN, 5.0])]);
    // Two stretches of two points; the last point stands alone.
    assert_eq!(curves(&figure).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    let svg = figure.inline_svg();
    assert_eq!(svg.matches("class=\"m\"").count(), 5 + 1, "and one in the legend");
    assert!(!svg.contains("inf") && !svg.contains("NaN"));
}

#[test]
fn a_line_goes_through_its_points() {
    let curves = curves(&figure(vec![line(&[0.0, 52.0, 104.0])]));
    let [(left, bottom), (middle, _), (right, _)] = curves[0][..] else { panic!("{curves:?}") };
    assert!((middle - left - (right - middle)).abs() <= 1 && right - left > 5_000, "{curves:?}");
    // The axis ends 4 % beyond the highest value; the plot is 270 pixels high.
    let top = f64::from(bottom) - f64::from(bottom - curves[0][2].1) * 1.04;
    assert!((f64::from(bottom) - top - 2_700.0).abs() < 3.0, "{curves:?}");
}

/// Markers stand apart; those between show on hovering, so that every point that can be hit has its tooltip.
#[test]
fn crowded_points_get_faint_markers() {
    let marks = |number: usize| {
        let svg = figure(vec![line(&vec![1.0; number])]).inline_svg();
        // One more is the legend's.
        (svg.matches("class=\"m\"").count() - 1, svg.matches("class=\"m faint\"").count())
    };
    // About 660 pixels wide: of 100 points every second is 9 or more from the one before, every second of these 15 ...
    assert_eq!(marks(100), (25, 25));
    // ... and of 300 every fourth.
    assert_eq!(marks(300).0 + marks(300).1, 75);
    let figure = figure(vec![line(&[1.0; 100])]);
    let places: Vec<i32> = figure
        .draw()
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Marker(mark) if !mark.faint && !mark.note.is_empty() => Some(mark.at.0),
            _ => None,
        })
        .collect();
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 150), "{places:?}");
}

/// Length of the bar through a point at 1 on an axis made for it.
fn bar(by_factors: bool, range: (f64, f64)) -> i32 {
    let point = Point { x: 0.5, y: 1.0, range: Some(range), note: "n".into() };
    let heights = point.heights().into_iter();
    let y = if by_factors { Axis::logarithmic("y", heights) } else { Axis::linear("y", heights) };
    let mut figure = figure(vec![Series { joined: false, points: vec![point], ..line(&[]) }]);
    figure.rows[0].panels[0].y = y;
    let upright = |shape: &Shape| match shape {
        Shape::Line { points, paint, .. }
            if paint.role == paint::ColourRole::Series(1) && points[0].0 == points[1].0 =>
        {
            Some((points[0].1 - points[1].1).abs())
        }
        _ => None,
    };
    figure.draw().shapes.iter().filter_map(upright).sum()
}

/// The plot is 2,700 tenths of a pixel high; an axis ends a little beyond the numbers.
#[test]
fn bars_are_as_long_as_their_ranges() {
    let check = |by_factors, range, part: f64| {
        let length = bar(by_factors, range);
        assert!((f64::from(length) - 2_700.0 * part).abs() < 4.0, "{range:?}: {length} is not {part}");
    };
    check(false, (0.25, 3.0), 2.75 / 3.12);
    check(false, (-1.0, 3.0), 1.0 / 1.08);
    check(true, (0.1, 10.0), 1.0 / 1.08);
    // From the axis' end, which is at 1 / 1.05.
    check(true, (-1.0, 3.0), (3.0 * 1.05f64).ln() / (3.0 * 1.05f64.powi(2)).ln());
    check(true, (f64::NAN, 3.0), 0.0);
}

#[test]
fn each_panel_has_its_own_horizontal_axis() {
    let mut both = figure(vec![line(&[0.0, 100.0])]);
    let second = Panel { x: Axis::up_to("x", 2.0), ..both.rows[0].panels[0].clone() };
    both.rows[0].panels.push(second);
    let widths: Vec<i32> = curves(&both).iter().map(|curve| curve[1].0 - curve[0].0).collect();
    assert!((widths[0] - 2 * widths[1]).abs() <= 2, "{widths:?}");
}

#[test]
fn nothing_makes_an_empty_chart() {
    let nothing = figure(vec![Series { points: Vec::new(), ..line(&[]) }]);
    assert!(nothing.is_empty() && !figure(vec![line(&[1.0])]).is_empty() && Figure::default().is_empty());
    assert!(nothing.inline_svg().ends_with("</svg>\n"));
    assert!(Figure::default().pdf().starts_with(b"%PDF-1.4"));
}

#[test]
fn numbers_of_any_size_are_drawn() {
    for values in
        [&[0.0, 1e300][..], &[-1e308, 1e308], &[1e-300, 2e-300], &[5.0, 5.0 + 1e-12], &[f64::NAN], &[1e17, 1.0]]
    {
        let mut any = figure(vec![line(values)]);
        any.inline_svg();
        any.rows[0].panels[0].y = Axis::logarithmic("y", values.iter().copied());
        any.pdf();
    }
}

#[test]
fn the_points_are_a_csv_file_as_well() {
    let mut one = figure(vec![line(&[1.5, f64::INFINITY])]);
    one.rows[0].panels[0].layers.push(Layer::Tile(Tile {
        x: (0.0, 1.0),
        y: (2.0, 3.0),
        colour: Some(0),
        strength: 0.5,
        value: Some(7.0),
        note: "e4".into(),
    }));
    let lines = "row,panel,series,x,y,low,high,value,text\n\
                 <em>,p<s>,<b>,0,1.5,,,,\"<i>\"\"'\"\n<em>,p<s>,<b>,1,inf,,,,\"<i>\"\"'\"\n<em>,p<s>,,0.5,2.5,,,7,e4\n";
    assert_eq!(one.csv(), lines);
}

#[test]
fn equal_figures_have_equal_bytes_on_any_thread() {
    let bytes = || {
        let figure = figure(vec![line(&[1.0, 2.5e-7, 3.0])]);
        [
            figure.pdf(),
            figure.standalone_svg().into_bytes(),
            figure.inline_svg().into_bytes(),
            figure.csv().into_bytes(),
        ]
    };
    let both =
        std::thread::scope(|scope| [scope.spawn(bytes), scope.spawn(bytes)].map(|thread| thread.join().unwrap()));
    assert!(both.iter().all(|again| *again == bytes()));
}

/// Every object lies at its offset in the file's table of references.
#[test]
fn a_pdf_is_whole() {
    let bytes = figure(vec![line(&[1.0, 2.0])]).pdf();
    let text = String::from_utf8_lossy(&bytes);
    let at = |part: &str| bytes.windows(part.len()).rposition(|window| window == part.as_bytes()).unwrap();
    let table: usize = text[text.rfind("startxref").unwrap()..].lines().nth(1).unwrap().parse().unwrap();
    assert_eq!(table, at("xref\n0 "), "{text}");
    let entries = String::from_utf8(bytes[table..].to_vec()).unwrap();
    let offsets = entries.lines().skip(3).take_while(|line| line.ends_with("n ") || line.ends_with('n'));
    let mut number = 0;
    for line in offsets {
        number += 1;
        let offset: usize = line[..10].parse().unwrap();
        assert!(bytes[offset..].starts_with(format!("{number} 0 obj").as_bytes()), "{line}");
    }
    assert!(number >= 8, "{entries}");
    assert!(text.ends_with("%%EOF") && text.contains("/BaseFont /Helvetica\n"), "{text}");
}

#[test]
fn overlapping_texts_are_found() {
    let long = "a title that is far longer than the whole figure is wide ".repeat(4);
    let mut cut = figure(vec![Series { name: long.clone(), ..line(&[1.0, 2.0]) }]);
    cut.rows[0].panels[0].title = long.clone();
    cut.rows[0].panels[0].note = long.clone();
    cut.rows[0].heading = long;
    assert_eq!(cut.text_overlaps(), [""; 0], "long texts are cut");
    let ticks = [(0.1, "near"), (0.11, "nearer")].map(|(at, text)| (at, text.to_owned()));
    cut.rows[0].panels[0].x.ticks = ticks.into();
    assert_eq!(cut.text_overlaps(), ["f: `near` lies over `nearer`"]);
}
