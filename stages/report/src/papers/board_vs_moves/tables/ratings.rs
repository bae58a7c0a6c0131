//! Ratings by the paper's rule and by maximum likelihood.

use std::collections::BTreeMap;

use cwm_page::{Column, Interval, PAPER_ONLY, Row, Table, TableCell, number};
use cwm_rating::{Level, PAPERS_DRAW, in_turn, interval, likeliest};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::common::{RESAMPLES, SEED};
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::play::{ArmGame, ArmGames, Opponent, PAPERS_RULES, Results};
use crate::papers::board_vs_moves::tables::levels::{SWEEPS, elo, in_elo};
use crate::papers::board_vs_moves::tables::{REPOSITORY, printed_row};

/// Ratings that the paper prints: words, row and column of the facts.
const PRINTED: [(&str, &str, &str); 7] = [
    ("Llama 3.1, prompt", "llama", "elo"),
    ("board/none", "nanogpt_fen_bidirectional", "elo"),
    ("ChessBench's model", "chessbench_model", "elo"),
    ("ChessBench's model, as published", "chessbench_model_published", "elo"),
    ("characters/causal, as White", "nanogpt_pgn", "elo"),
    ("characters/causal, both colours", "nanogpt_pgn", "elo_white_and_black"),
    ("gpt-3.5-turbo", "gpt-3.5-turbo", "elo"),
];

/// A game against an opponent of known rating.
pub(super) type RatedGame<'a> = (f64, &'a ArmGame);

/// Ratings of each arm from its games against levels.
pub(crate) fn ratings(played: &[ArmGames], facts: &Facts) -> Table {
    let mut columns = ArmGames::columns();
    columns.extend(
        [
            "Games",
            "Levels",
            "Paper's rule",
            "Paper's rule, strongest first",
            "Maximum likelihood",
            "As White",
            "As Black",
        ]
        .map(Column::number),
    );
    let rated = played.iter().filter_map(|played| Some(vec![row(played, facts)?]));
    let groups: Vec<Vec<Row>> = rated.collect();
    let not_run = match groups.as_slice() {
        [] => Vec::new(),
        _ => SWEEPS
            .into_iter()
            .filter_map(|sweep| repository(sweep, facts))
            .chain(PRINTED.map(|printed| vec![papers(printed, facts)]))
            .collect(),
    };
    Table {
        id: id("ratings"),
        title: "Ratings".into(),
        paper: Some("Section 4.3, Appendix I.4"),
        caption: CAPTION.into(),
        columns,
        groups,
        not_run,
        noun: "players",
        ..Table::default()
    }
}

const CAPTION: &str = "In Elo, from games against levels that have a rating in the paper's Table 3. The paper's rule begins at 1,300 and \
                       corrects once a level, the weakest first, with 0.9 points for a draw. It is no estimate: from the authors' own counts, \
                       100 games a level, it gives 2,478, and with the same levels in another order anything from 1,932 to 2,735; with ten \
                       times the games it gives −816. The likeliest rating of these counts is 2,274 ± 17. Maximum likelihood has a draw as half \
                       a point, and its 95 % interval over pairs of games; `<` and `>` are bounds where all games were lost or won, \
                       and intervals that the games bound on one side alone. \
                       Table 3's ratings are those of Stockfish 16 in January 2023 at 120 s + 1 s a game, not of the engine and the limit \
                       here; no rating is of people's scale. One that is mostly draws by repetition, or from one colour, is none of \
                       the whole player.";

fn row(played: &ArmGames, facts: &Facts) -> Option<Row> {
    let levels = played.games_by_opponent.iter().filter_map(|(opponent, games)| match opponent {
        Opponent::Level(level) => Some((facts.level(*level)?, games)),
        Opponent::Other(_) => None,
    });
    let levels: Vec<(f64, &Vec<ArmGame>)> = levels.collect();
    let games: Vec<RatedGame> =
        levels.iter().flat_map(|(rating, games)| games.iter().map(|game| (*rating, game))).collect();
    let results: Vec<Level> = levels.iter().map(|(rating, games)| Results::of(*games).at(*rating)).collect();
    if results.is_empty() {
        return None;
    }
    let of_colour = |is_white: bool| {
        let games: Vec<RatedGame> = games.iter().copied().filter(|(_, game)| game.is_white == is_white).collect();
        by_likelihood(&games)
    };
    let mut numbers = vec![TableCell::count(games.len() as u64), TableCell::count(results.len() as u64)];
    numbers.extend(by_papers_rule(&results));
    numbers.extend([by_likelihood(&games), of_colour(true), of_colour(false)]);
    let numbers = numbers.into_iter().map(|cell| cell.with_sources(&played.labels));
    Some(Row::ours(played.head().into_iter().chain(numbers).collect()))
}

/// Rates by the paper's rule, with the levels in rising and in falling order.
fn by_papers_rule(levels: &[Level]) -> [TableCell; 2] {
    let rating = |levels: &[Level]| {
        let last = in_turn(levels, PAPERS_DRAW).ok().and_then(|path| path.last().copied());
        last.map_or(TableCell::none(), |rating| TableCell::number(rating, number::whole(rating.round())))
    };
    let falling: Vec<Level> = levels.iter().rev().copied().collect();
    [rating(levels), rating(&falling)]
}

/// Rates by maximum likelihood, with the interval over pairs.
pub(super) fn by_likelihood(games: &[RatedGame]) -> TableCell {
    let level = |(rating, game): &RatedGame| Results::of([*game]).at(*rating);
    let levels: Vec<Level> = games.iter().map(level).collect();
    let mut pairs: BTreeMap<(usize, u64), Vec<Level>> = BTreeMap::new();
    for ((_, game), level) in games.iter().zip(&levels) {
        pairs.entry(game.pair).or_default().push(*level);
    }
    let pairs: Vec<Vec<Level>> = pairs.into_values().collect();
    let cell = elo(likeliest(&levels).ok());
    with_interval(cell, &pairs)
}

fn with_interval(cell: TableCell, pairs: &[Vec<Level>]) -> TableCell {
    let Ok(found) = interval(pairs, RESAMPLES, SEED, cwm_measures::CONFIDENCE) else { return cell };
    // Resamples of games that all ended alike have no other results. An end that the games do not bound is infinite.
    let has_width = found.low.zip(found.high).is_none_or(|(low, high)| low < high);
    let known = (cell.value.is_some() && has_width).then(|| Interval {
        low: found.low.map_or(f64::NEG_INFINITY, in_elo),
        high: found.high.map_or(f64::INFINITY, in_elo),
        text: format!("[{}]", number::printed(&found.to_string())),
    });
    cell.with_interval(known)
}

/// The authors' counts, rated in both ways.
fn repository((sweep, words): (&str, &str), facts: &Facts) -> Option<Vec<Row>> {
    let results = facts.sweep(sweep).into_iter().enumerate().map(|(level, [wins, draws, losses])| {
        Some(Results { wins, draws, losses }.at(facts.level(u8::try_from(level).ok()?)?))
    });
    let levels = results.collect::<Option<Vec<Level>>>()?;
    // Its games are not known one by one; each is a pair of its own.
    let one = |rating, [wins, draws, losses]: [u32; 3]| vec![Level { rating, wins, draws, losses }];
    let games = |level: &Level| {
        let of = |number: u32, game| std::iter::repeat_n(one(level.rating, game), number as usize);
        [of(level.wins, [1, 0, 0]), of(level.draws, [0, 1, 0]), of(level.losses, [0, 0, 1])]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    let pairs: Vec<Vec<Level>> = levels.iter().flat_map(games).collect();
    let mut cells = vec![
        TableCell::text(PAPERS_RULES),
        TableCell::text(REPOSITORY),
        TableCell::none(),
        TableCell::text(words),
        TableCell::none(),
    ];
    cells.extend([TableCell::count(pairs.len() as u64), TableCell::count(levels.len() as u64)]);
    cells.extend(by_papers_rule(&levels));
    cells.push(with_interval(elo(likeliest(&levels).ok()), &pairs));
    cells.extend([TableCell::none(), TableCell::none()]);
    Some(vec![printed_row(cells)])
}

fn papers((words, row, column): (&str, &str, &str), facts: &Facts) -> Row {
    let mut cells =
        vec![TableCell::text(PAPERS_RULES), TableCell::text(words), TableCell::none(), TableCell::text(PAPER_ONLY)];
    cells.extend(std::iter::repeat_n(TableCell::none(), 3));
    cells.push(facts.cell(row, column, 1.0));
    cells.extend(std::iter::repeat_n(TableCell::none(), 4));
    printed_row(cells)
}
