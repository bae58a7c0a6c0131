//! Results against each opponent.

use cwm_matches::End;
use cwm_page::{Column, Row, Table, TableCell, number};
use cwm_rating::{Rating, difference};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::groups::estimate_cell;
use crate::papers::board_vs_moves::play::{ArmGame, ArmGames, Opponent, PAPERS_RULES, Results, score};
use crate::papers::board_vs_moves::tables::ratings::{RatedGame, by_likelihood};
use crate::papers::board_vs_moves::tables::{REPOSITORY, printed_row};

/// The sweeps of the authors' repository: row of the facts, and words.
pub(crate) const SWEEPS: [(&str, &str); 2] =
    [("sweep", "sweep"), ("sweep_with_repetitions", "sweep with draws by repetition")];

/// The table of wins, draws and losses of each arm against each opponent, and of the ends of games.
pub(crate) fn levels(played: &[ArmGames], facts: &Facts) -> Table {
    let mut columns = ArmGames::columns();
    columns.push(Column::text("Opponent").naming_rows());
    let numbers = [
        "Games",
        "Won",
        "Drawn",
        "Lost",
        "Score (%)",
        "Repetitions",
        "Forfeits",
        "Context full",
        "Illegal attempts a game",
    ];
    columns.extend(numbers.map(Column::number));
    columns.push(Column::number("Elo above it"));
    Table {
        id: id("levels"),
        title: "Results against each opponent".into(),
        paper: Some("Appendix I"),
        caption: "`level N` is Stockfish's rule of weakened play, drawn from a seed; the engine and its digest stand under Data. The \
                  paper's rules are up to five sampled attempts at a legal move, and positions may repeat; ours are all others, and \
                  make another player. Arms may have learned from other games, as the table of best moves shows. Repetitions are games drawn by the third occurrence of a position; forfeits were lost for want of a legal \
                  move; in games whose context was full the model could read no further, and they count as drawn. Scores and \
                  Elo have 95 % intervals over pairs of games, where not all games ended alike. A `<` is only a bound: all games \
                  were lost; an interval with one is bounded on that side alone. Seeds of an arm are taken \
                  together. An arm that plays White alone has half of chess. Of the repository's two sweeps the one without draws \
                  was re-scored, so it seems, by an engine."
            .into(),
        columns,
        groups: played.iter().flat_map(|played| played.games_by_opponent.iter().map(move |(opponent, games)| vec![row(played, opponent, games)])).collect(),
        not_run: if played.is_empty() { Vec::new() } else { repository(facts) },
        noun: "players",
        ..Table::default()
    }
}

fn row(played: &ArmGames, opponent: &Opponent, games: &[ArmGame]) -> Row {
    let results = Results::of(games);
    let ends = |end: End, lost: bool| {
        games.iter().filter(|game| game.end == end && (!lost || game.score == 0.0)).count() as u64
    };
    let mut cells = played.head();
    cells.push(TableCell::text(opponent.name()));
    let attempts: u64 = games.iter().map(|game| u64::from(game.illegal_attempts)).sum();
    let mut numbers = counts(results);
    // Resamples of games that all ended alike have no other results.
    let score = score(games)
        .map(|found| cwm_measures::Estimate { interval: found.interval.filter(|(low, high)| low < high), ..found });
    numbers.push(estimate_cell(score, true, []));
    numbers.extend(
        [(End::Threefold, false), (End::Attempts, true), (End::Context, false)]
            .map(|(end, lost)| TableCell::count(ends(end, lost))),
    );
    numbers.push(
        number::mean(attempts, games.len() as u64)
            .map_or(TableCell::none(), |(mean, text)| TableCell::number(mean, text)),
    );
    // The rating against an opponent of 0.
    let rated: Vec<RatedGame> = games.iter().map(|game| (0.0, game)).collect();
    numbers.push(by_likelihood(&rated));
    cells.extend(numbers.into_iter().map(|cell| cell.with_sources(&played.labels)));
    Row::ours(cells)
}

/// Games, wins, draws and losses.
fn counts(results: Results) -> Vec<TableCell> {
    let Results { wins, draws, losses } = results;
    [results.games(), wins, draws, losses].map(|number| TableCell::count(u64::from(number))).into()
}

/// Rounds a rating to a millionth of a point, for machines: ratings are computed to 1e-9, and smaller differences are
/// noise.
pub(super) fn in_elo(rating: f64) -> f64 {
    // With 0 added, a zero has no minus.
    (rating * 1e6).round() / 1e6 + 0.0
}

/// A rating or a bound, which is a word and no number.
pub(super) fn elo(rating: Option<Rating>) -> TableCell {
    match rating {
        Some(likeliest @ Rating::Likeliest { rating, .. }) => {
            TableCell::number(in_elo(rating), number::printed(&likeliest.to_string()))
        }
        Some(bound) => TableCell::text(number::printed(&bound.to_string())),
        None => TableCell::none(),
    }
}

fn repository(facts: &Facts) -> Vec<Vec<Row>> {
    let rows = SWEEPS.into_iter().flat_map(|(sweep, words)| {
        facts.sweep(sweep).into_iter().enumerate().map(move |(level, [wins, draws, losses])| {
            let results = Results { wins, draws, losses };
            let head = [PAPERS_RULES, REPOSITORY, "", words, ""];
            let head = head.map(|word| if word.is_empty() { TableCell::none() } else { TableCell::text(word) });
            let mut cells: Vec<TableCell> =
                head.into_iter().chain([TableCell::text(format!("level {level}"))]).collect();
            cells.extend(counts(results));
            cells.push(results.at(0.0).score().map_or(TableCell::none(), TableCell::percent));
            cells.extend(std::iter::repeat_n(TableCell::none(), 4));
            cells.push(elo(difference(&results.at(0.0)).ok()));
            vec![printed_row(cells)]
        })
    });
    rows.collect()
}
