//! The probe: the beginnings of two games, with few nodes.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput, Value};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Score, Source};
use cwm_reasoning::board::{BoardForm, board_text};
use shakmaty::{Chess, Position};

use crate::Examples;
use crate::config::Config;

/// Runs `examples` with the engine of the parameters on few positions.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let limit = match context.values().get("limit") {
        Some(Value::Int(limit)) => Value::Int((*limit).min(4)),
        _ => Value::Null,
    };
    let values = context.values_with([
        ("nodes", context.at_most("nodes", 5_000)),
        ("depth", context.at_most("depth", 3)),
        ("limit", limit),
        // Few positions are in few ranges.
        ("fullmoves", Value::Map([].into())),
        ("sides", Value::Text("as_it_comes".to_owned())),
    ]);
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let input = if config.needs_evaluations() {
        let path = context.folder().join("evaluations.parquet");
        write_evaluations(&path)?;
        ("evaluations", Label::stage("analysed"), path)
    } else {
        let folder = context.folder().join("games");
        let games: Vec<_> = sample::games().iter().take(2).map(|game| game[..5].to_vec()).collect();
        sample::write_games(&folder, &games)?;
        ("games", Label::stage("corpus"), folder)
    };
    context.run(&Examples, "run", &values, &[input])
}

/// The positions of a short game: one with a value for each move, the others with a best move alone.
fn write_evaluations(path: &std::path::Path) -> Result<(), Failure> {
    let mut writer = EvaluationsWriter::create(path, &Source { made_by: "a probe".to_owned(), ..Source::default() })?;
    let mut position = Chess::default();
    for record in 0..4 {
        let moves = position.legal_moves();
        let lines = moves.iter().take(if record == 0 { moves.len() } else { 1 }).enumerate();
        let line = |(at, played): (usize, &shakmaty::Move)| Line {
            score: Some(Score::Centipawns(at as i32 % 7)),
            depth: None,
            moves: vec![PlainMove::from(*played).packed()],
        };
        writer.push(Evaluation {
            record,
            game: Some(0),
            id: "probe".to_owned(),
            t: Some(record as u32),
            fen: board_text(&position, BoardForm::Fen),
            lines: lines.map(line).collect(),
        })?;
        position.play_unchecked(moves[record as usize]);
    }
    writer.finish()?;
    Ok(())
}
