//! The figures, one file each, and the styles by which all of them distinguish models.

mod ablations;
mod by_parameters;
mod by_prefix;
mod by_test;
mod errors;
mod learning_curves;

pub(crate) use ablations::ablations;
pub(crate) use by_parameters::by_parameters;
pub(crate) use by_prefix::{by_prefix, by_prefix_under_shifts};
pub(crate) use by_test::by_test;
pub(crate) use errors::errors;
pub(crate) use learning_curves::learning_curves;

use cwm_page::{Axis, COLOURS, DASHES, Height, LegendEntry, MeanStd, Panel, PanelRow, Style};

use crate::papers::chess_world_model::model::{Model, family_place};

/// Panels side by side at most, where each shows the models of one size.
const SIZES_ABREAST: usize = 4;

/// Models that one panel shows: small multiples by size, so that 28 models do not lie over each other.
struct Group {
    /// The size, or nothing where one panel shows all.
    title: String,
    members: Vec<Member>,
}

/// A model with its style.
struct Member {
    /// Index among the models.
    model: usize,
    /// The name in the legend.
    name: String,
    style: Style,
}

/// Groups the models into panels: one for each size if there are several families and sizes, coloured by family; else one.
fn groups(models: &[Model]) -> Vec<Group> {
    let families = distinct(models.iter().map(|model| model.family.as_str()));
    let sizes = sizes(models);
    let apart = families.len() > 1 && sizes.len() > 1;
    let group = |size: Option<&str>| {
        let shown = models.iter().enumerate().filter(|(_, model)| size.is_none_or(|size| model.size == size));
        let mut members: Vec<Member> = Vec::new();
        for (index, model) in shown {
            let (colour, nth) = if families.len() == 1 {
                (members.len() % COLOURS, members.len() / COLOURS)
            } else {
                let same = members.iter().filter(|member| models[member.model].family == model.family).count();
                (family_colour(models, &model.family), same)
            };
            let name = if apart { model.name() } else { legend_name(model) };
            let style = Style { dash: nth % DASHES, ..Style::solid(colour) };
            members.push(Member { model: index, name, style });
        }
        Group { title: size.unwrap_or_default().to_owned(), members }
    };
    if apart { sizes.iter().map(|size| group(Some(size))).collect() } else { vec![group(None)] }
}

/// The colour of a family: the same in every figure and every report, for those that the paper has.
fn family_colour(models: &[Model], family: &str) -> usize {
    let places = distinct(models.iter().map(|model| model.family.as_str()));
    let known: Vec<usize> = places.iter().filter_map(|family| family_place(family)).collect();
    let free: Vec<usize> = (0..COLOURS).filter(|colour| !known.contains(colour)).collect();
    let unknown = places.iter().filter(|family| family_place(family).is_none()).position(|other| *other == family);
    let nth = |place: usize| free.get(place % free.len().max(1)).copied().unwrap_or(place % COLOURS);
    family_place(family).unwrap_or_else(|| nth(unknown.unwrap_or(0)))
}

/// Returns the largest of the models of each family that are `known`; of equally large ones the first.
fn largest(models: &[Model], known: impl Fn(usize) -> bool) -> Vec<usize> {
    let known: Vec<usize> = (0..models.len()).filter(|index| known(*index)).collect();
    let of = |family: &str| {
        let mut members = known.iter().copied().filter(|index| models[*index].family == family);
        // Models are sorted by size within a family.
        let size = &models[members.clone().next_back()?].size;
        members.find(|index| models[*index].size == *size)
    };
    distinct(known.iter().map(|index| models[*index].family.as_str())).into_iter().filter_map(of).collect()
}

/// All sizes, the smallest first.
fn sizes(models: &[Model]) -> Vec<String> {
    let mut sizes: Vec<Model> =
        models.iter().map(|model| Model { family: String::new(), coordinates: Vec::new(), ..model.clone() }).collect();
    sizes.sort();
    sizes.dedup();
    sizes.into_iter().map(|model| model.size).collect()
}

fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Name of a model in a legend.
fn legend_name(model: &Model) -> String {
    format!("{} {}", model.name(), model.size)
}

/// Name of a model over a small panel: of the variants the paper's longest name is cut in words, not in letters.
fn short_name(model: &Model) -> String {
    model.name().replace(" with positive eigenvalues", ", positive")
}

/// Returns the legend of the lighter marks, where any panel has them.
fn paper_legend<'a>(mut panels: impl Iterator<Item = &'a Panel>) -> Vec<LegendEntry> {
    let style = Style { colour: None, light: true, ..Style::solid(0) };
    let is_light = |panel: &Panel| panel.series().any(|series| series.style.light && !series.points.is_empty());
    let entry = || LegendEntry { name: "the paper's models".into(), style };
    panels.any(is_light).then(entry).into_iter().collect()
}

/// The meaning of bands and bars, for descriptions.
const BANDS: &str = "Bands are 95 % intervals, from games drawn anew; over several runs one standard deviation.";

/// Rows of so many columns, a new one for each heading; the horizontal axis is named below the last, the vertical one
/// stands at the left of each.
fn rows(headed: Vec<(String, Vec<Panel>)>, columns: usize, y: &Axis, x_label: &str) -> Vec<PanelRow> {
    let widest = headed.iter().map(|(_, panels)| panels.len()).max().unwrap_or(0).clamp(1, columns);
    let mut rows: Vec<PanelRow> = Vec::new();
    for (heading, panels) in headed {
        let mut heading = Some(heading);
        let mut panels = panels.into_iter().peekable();
        while panels.peek().is_some() {
            let row = panels.by_ref().take(widest).enumerate();
            let row = row.map(|(index, panel)| Panel { y: y.clone().shown(index == 0), ..panel });
            rows.push(PanelRow {
                heading: heading.take().unwrap_or_default(),
                key: None,
                height: Height::Pixels(match widest {
                    1 => 280,
                    2 => 220,
                    _ => 150,
                }),
                columns: widest,
                panels: row.collect(),
            });
        }
    }
    for panel in rows.last_mut().into_iter().flat_map(|row| &mut row.panels) {
        panel.x.label = x_label.to_owned();
    }
    rows
}

/// The range of a number, in `unit`s: one standard deviation over runs, or for a single run the interval over resampled
/// games.
fn around(spread: MeanStd, unit: f64) -> Option<(f64, f64)> {
    let over_runs = spread.deviation.map(|deviation| (spread.mean - deviation, spread.mean + deviation));
    over_runs.or(spread.interval).map(|(low, high)| (low * unit, high * unit))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::papers::chess_world_model::results::Overall;

    /// Results of two runs, of each metric the mean and the deviation.
    pub(crate) fn overall(loss: (f64, f64), exact: (f64, f64)) -> Overall {
        let [loss, exact] =
            [loss, exact].map(|(mean, deviation)| MeanStd { mean, deviation: Some(deviation), interval: None });
        Overall {
            each: Vec::new(),
            runs: 2,
            departures: Default::default(),
            games: 9,
            positions: 99,
            loss: Some(loss),
            labelwise: exact,
            exact,
            trajectory: exact,
        }
    }

    fn models(named: &[(&str, &str)]) -> Vec<Model> {
        named.iter().map(|(family, size)| Model::new("e", family, size)).collect()
    }

    #[test]
    fn several_families_and_sizes_are_small_multiples() {
        let all =
            models(&[("transformer", "d8/l1"), ("transformer", "d16/l1"), ("slice", "d8/l1"), ("zeta", "d16/l1")]);
        let groups = groups(&all);
        assert_eq!(groups.iter().map(|group| group.title.as_str()).collect::<Vec<_>>(), ["d8/l1", "d16/l1"]);
        let shown = |group: &Group| -> Vec<(usize, String, Option<usize>)> {
            group.members.iter().map(|member| (member.model, member.name.clone(), member.style.colour)).collect()
        };
        assert_eq!(shown(&groups[0]), [(0, "Transformer".into(), Some(0)), (2, "SLiCE".into(), Some(1))]);
        // The first colour that no family here has.
        assert_eq!(shown(&groups[1]), [(1, "Transformer".into(), Some(0)), (3, "zeta".into(), Some(2))]);
    }

    #[test]
    fn runs_spread_before_games_do() {
        let one = MeanStd { mean: 0.5, deviation: None, interval: Some((0.25, 0.75)) };
        assert_eq!(around(one, 100.0), Some((25.0, 75.0)));
        assert_eq!(around(MeanStd { deviation: Some(0.125), ..one }, 1.0), Some((0.375, 0.625)));
        assert_eq!(around(MeanStd { interval: None, ..one }, 1.0), None);
    }

    #[test]
    fn one_family_has_a_colour_for_each_model() {
        let all = models(&[("slice", "d8/l1"), ("slice", "d16/l1")]);
        let groups = groups(&all);
        assert_eq!(groups.len(), 1);
        let colours: Vec<_> = groups[0].members.iter().map(|member| member.style.colour).collect();
        assert_eq!(colours, [Some(0), Some(1)]);
        assert_eq!(groups[0].members[1].name, "SLiCE d16/l1");
    }

    #[test]
    fn the_largest_that_is_known_stands_for_its_family() {
        let mut all = models(&[("slice", "d8/l1"), ("slice", "d16/l1"), ("slice", "d16/l1"), ("mamba3", "d8/l1")]);
        all.sort();
        assert_eq!(largest(&all, |_| true), [1, 3]);
        assert_eq!(largest(&all, |index| index != 1), [2, 3]);
        assert_eq!(largest(&all, |index| index == 0), [0]);
    }

    #[test]
    fn variants_of_one_family_and_size_differ_in_dashes() {
        let label = |lr: &str| format!("e[family=slice,size=d8/l1,lr={lr}]");
        let mut all: Vec<Model> = ["1", "2"].iter().map(|lr| Model::new(&label(lr), "slice", "d8/l1")).collect();
        all.extend(models(&[("transformer", "d8/l1")]));
        let groups = groups(&all);
        let styles: Vec<_> = groups[0].members.iter().map(|member| (member.style.colour, member.style.dash)).collect();
        assert_eq!(styles, [(Some(1), 0), (Some(1), 1), (Some(0), 0)]);
    }
}
