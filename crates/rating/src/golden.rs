//! Ratings that an independent program computed.

use std::path::PathBuf;

use serde::Deserialize;

use crate::{Level, PAPERS_DRAW, Rating, in_turn, likeliest};

/// The levels' ratings in the paper, its Table 3.
const TABLE_3: [f64; 11] = [1320.0, 1467.0, 1608.0, 1742.0, 1922.0, 2203.0, 2363.0, 2499.0, 2596.0, 2702.0, 2788.0];

/// One of `ratings.json`.
#[derive(Deserialize)]
struct Golden {
    name: String,
    results: Vec<Results>,
    #[serde(rename = "in_turn_draw_0.9")]
    papers: f64,
    in_turn_path: Vec<f64>,
    #[serde(rename = "in_turn_draw_0.5")]
    usual: f64,
    likeliest: Option<f64>,
    standard_error: Option<f64>,
}

#[derive(Deserialize)]
struct Results {
    level: usize,
    wins: u32,
    draws: u32,
    losses: u32,
}

impl Golden {
    fn levels(&self) -> Vec<Level> {
        let level =
            |&Results { level, wins, draws, losses }: &Results| Level { rating: TABLE_3[level], wins, draws, losses };
        self.results.iter().map(level).collect()
    }
}

/// All of them; `None`, with a printed line, where the shared folder is absent.
fn ratings() -> Option<Vec<Golden>> {
    let shared = std::env::var_os("CWM_SHARED").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../../shared")
    });
    let path = shared.join("systems/board-vs-moves-golden/ratings.json");
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

#[track_caller]
fn close(found: f64, golden: f64, tolerance: f64, name: &str) {
    assert!((found - golden).abs() <= tolerance, "{name}: {found}, not {golden}");
}

#[test]
fn the_papers_rule_and_each_step_are_those_of_the_golden_file() {
    for golden in ratings().unwrap_or_default() {
        let path = in_turn(&golden.levels(), PAPERS_DRAW).unwrap();
        assert_eq!(path.len(), golden.in_turn_path.len());
        for (found, step) in path.iter().zip(&golden.in_turn_path) {
            close(*found, *step, 1e-6 * step.abs(), &golden.name);
        }
        close(*path.last().unwrap(), golden.papers, 1e-6 * golden.papers.abs(), &golden.name);
        let usual = *in_turn(&golden.levels(), 0.5).unwrap().last().unwrap();
        close(usual, golden.usual, 1e-6 * golden.usual.abs(), &golden.name);
    }
}

#[test]
fn the_likeliest_ratings_are_those_of_the_golden_file() {
    for golden in ratings().unwrap_or_default() {
        let points: f64 = golden.levels().iter().map(Level::points).sum();
        match (likeliest(&golden.levels()).unwrap(), golden.likeliest.zip(golden.standard_error)) {
            (Rating::Likeliest { rating, standard_error }, Some((golden_rating, golden_error))) => {
                close(rating, golden_rating, 1e-3, &golden.name);
                close(standard_error, golden_error, 1e-3, &golden.name);
            }
            (Rating::Below(_), None) => assert_eq!(points, 0.0, "{}", golden.name),
            (Rating::Above(_), None) => assert!(points > 0.0, "{}", golden.name),
            (found, _) => panic!("{}: {found:?}", golden.name),
        }
    }
}

/// The faults of the rule, from the counts that the authors published, 100 games a level.
#[test]
fn the_papers_rule_depends_on_order_and_oscillates() {
    let Some(ratings) = ratings() else { return };
    let levels = ratings.iter().find(|golden| golden.name == "the authors' counts").unwrap().levels();
    let papers = |levels: &[Level]| in_turn(levels, PAPERS_DRAW).unwrap().last().unwrap().round();
    assert_eq!(papers(&levels), 2_478.0);
    let falling: Vec<Level> = levels.iter().rev().copied().collect();
    assert!((papers(&falling) - 2_478.0).abs() > 100.0, "{}", papers(&falling));
    let tenfold = |&Level { rating, wins, draws, losses }: &Level| Level {
        rating,
        wins: 10 * wins,
        draws: 10 * draws,
        losses: 10 * losses,
    };
    assert_eq!(papers(&levels.iter().map(tenfold).collect::<Vec<_>>()), -816.0);
}
