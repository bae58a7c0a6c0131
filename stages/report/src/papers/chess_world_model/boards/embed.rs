//! Chooses the boards that go on the page, and writes them.

use std::collections::BTreeSet;

use askama::Template;
use cwm_contract::Failure;
use cwm_page::{
    Widget, embedded_json,
    number::{count, plural},
};
use serde::Serialize;
use serde_json::Value;

use super::name::names;
use super::read::{Game, PredictedGame};
use crate::papers::chess_world_model::test_set::TestSet;

/// The view of games, step by step.
#[derive(Template)]
#[template(path = "chess_world_model/boards.html")]
struct View {
    /// The boards for the view's script; safe within its element.
    json: String,
    /// The games that are shown, in a sentence.
    shown: String,
    /// The games that are left out, in a sentence, if any.
    left_out: Option<String>,
}

/// The data of the script. Texts are plain; `labels` are packed.
#[derive(Serialize)]
struct Data<'a> {
    models: Vec<&'a str>,
    tests: Vec<String>,
    games: Vec<GameData<'a>>,
    predictions: Vec<ModelData<'a>>,
}

#[derive(Serialize)]
struct GameData<'a> {
    test: usize,
    /// Its place in the test set, from 1.
    number: u64,
    id: &'a str,
    result: &'a str,
    moves: &'a [String],
    san: Option<&'a [String]>,
    labels: &'a str,
}

#[derive(Serialize)]
struct ModelData<'a> {
    model: usize,
    game: usize,
    cell: &'a str,
    labels: &'a str,
    loss: Option<&'a [Value]>,
}

/// The view of as much of `boards` as goes into `limit` bytes; nothing if there are none.
///
/// The first game of each test set comes before any second one, and within that the order is the tables': test sets, then
/// models. Everything after the first one that does not fit is left out, so sizes determine only where the
/// list ends.
///
/// # Errors
/// A mistake of ours.
pub(crate) fn embed(boards: &[PredictedGame], limit: u64) -> Result<Option<Widget>, Failure> {
    if boards.is_empty() {
        return Ok(None);
    }
    let (names, models) = names(boards);
    let tests: BTreeSet<&TestSet> = boards.iter().map(|board| &board.board_name.test).collect();
    let tests: Vec<&TestSet> = tests.into_iter().collect();
    let place = |(board, &model): (&'_ PredictedGame, &usize)| {
        let test = tests.iter().position(|test| **test == board.board_name.test).unwrap_or(tests.len());
        (board.game.place, test, model)
    };
    let mut order: Vec<(&PredictedGame, (u64, usize, usize))> =
        boards.iter().zip(&models).map(|pair| (pair.0, place(pair))).collect();
    order.sort_by(|(a, at), (b, bt)| at.cmp(bt).then_with(|| a.cell.cmp(&b.cell)));

    let mut games: Vec<(usize, &Game)> = Vec::new();
    let mut predictions: Vec<ModelData<'_>> = Vec::new();
    let mut bytes = 0;
    for (board, (_, test, model)) in &order {
        // Scored on the same games, most often.
        let known = games.iter().position(|known| *known == (*test, &board.game));
        let more = size(board)? + if known.is_some() { 0 } else { game_size(&board.game)? };
        if bytes + more > limit {
            break;
        }
        bytes += more;
        let game = known.unwrap_or(games.len());
        if known.is_none() {
            games.push((*test, &board.game));
        }
        let PredictedGame { cell, labels, loss, .. } = board;
        predictions.push(ModelData { model: *model, game, cell, labels, loss: loss.as_deref() });
    }
    let shown = predictions.len();
    let shown_models: BTreeSet<_> = predictions.iter().map(|prediction| prediction.model).collect();
    let sentence = format!(
        "Predictions of {} after each move of {}, beside the true positions.",
        plural(shown_models.len(), "model"),
        plural(games.len(), "game")
    );
    let left_out = (shown < boards.len()).then(|| {
        format!(
            "Left out, since the page takes {} bytes of boards: {} of {}, a board being one game as one model sees it. The \
             first game of each test set comes first, for all models. What is left out lies in the output called boards \
             of each cell that was scored.",
            count(limit),
            count((boards.len() - shown) as u64),
            plural(boards.len(), "board")
        )
    });
    let games = games.iter().map(|(test, game)| data(*test, game)).collect();
    let data = Data {
        models: names.iter().map(String::as_str).collect(),
        tests: tests.iter().map(|test| test.to_string()).collect(),
        games,
        predictions,
    };
    let json = if shown == 0 { "null".to_owned() } else { embedded_json(&data)? };
    let html = View { json, shown: sentence, left_out }
        .render()
        .map_err(|error| Failure::internal(format!("cannot draw the boards: {error}")))?;
    let script = concat!(
        "const PIECES = ",
        include_str!("../../pieces.json"),
        ";\n",
        include_str!("data.js"),
        include_str!("board.js"),
        include_str!("view.js")
    );
    Ok(Some(Widget { html, style: include_str!("boards.css"), script }))
}

fn data(test: usize, game: &Game) -> GameData<'_> {
    let Game { place, id, result, moves, san, labels } = game;
    GameData { test, number: place + 1, id, result, moves, san: san.as_deref(), labels }
}

/// Bytes on the page, but for a few.
fn size(board: &PredictedGame) -> Result<u64, Failure> {
    Ok((board.labels.len() + board.cell.len() + embedded_json(&board.loss)?.len()) as u64)
}

fn game_size(game: &Game) -> Result<u64, Failure> {
    Ok(embedded_json(&data(0, game))?.len() as u64)
}
