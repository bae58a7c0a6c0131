//! The probe: a few puzzles, games and evaluations of every kind, with few items a task.

use cwm_answers::{Answer, AnswersWriter, PlayerSettings};
use cwm_chess::sample;
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};
use cwm_encoding::{PlainMove, legal};
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Score, Source};
use cwm_questions::{UnknownTasks, read_items};
use serde_json::json;
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use crate::Questions;

/// Rows of puzzles with each fault, with a castling right that cannot be, and beyond the limits of Short Tactics.
const PUZZLES: &str = "\
PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,Themes
own01,6k1/5ppp/7r/8/8/8/5PPP/3R2K1 b KQ - 0 1,h6a6 d1d8,900,80,95,backRankMate mateIn1
own02,6k1/5ppp/7r/8/8/8/5PPP/3R2K1 b - - 0 1,h6b6 d1d8,1200,101,95,mateIn1
own03,6k1/5ppp/7r/8/8/8/5PPP/3R2K1 b - - 0 1,h6d6 d1d6,1700,80,89,hangingPiece
own01,8/P5k1/8/8/8/8/6K1/8 b - - 0 1,g7f6 a7a8q,2100,80,95,promotion advancedPawn
own05,8/8/8/8/8/8/8/8 w - - 0 1,h1h8 e8d7,1400,80,95,fork
own06,4k3/8/8/8/8/8/8/4K2R w K - 0 1,h1h9 e8d7,1400,80,95,fork
own07,4k3/8/8/8/8/8/8/4K2R w K - 0 1,h1h8,1400,80,95,fork
own08,4k3/8/8/8/8/8/8/4K2R w K - 0 1,h1h8 e8d7,many,80,95,fork
";

/// Plies of a game between the positions that become puzzles.
const STRIDE: usize = 3;

/// Themes of these, in turn.
const THEMES: [&str; 5] = ["fork", "short zugzwang", "pin fork", "mateIn2 sacrifice", "endgame"];

/// An evaluation of each band, one of none, and faulty lines.
const EVALUATIONS: &str = r#"{"fen":"4k3/8/8/8/8/8/4r3/K7 w - -","evals":[{"depth":9,"knodes":5,"pvs":[{"cp":-420,"line":"a1b1"}]}]}
{"fen":"4k3/8/8/8/8/8/4n3/K7 w - -","evals":[{"depth":9,"pvs":[{"cp":-220,"line":"a1b2"}]}]}
{"fen":"4k3/8/8/8/8/8/8/K7 w - -","evals":[{"depth":9,"pvs":[{"cp":0}]},{"depth":12,"pvs":[{"cp":-9}]},{"depth":12,"pvs":[]}]}
{"fen":"4k3/8/8/8/8/8/4N3/K7 b - -","evals":[{"depth":9,"pvs":[{"cp":180,"line":"e8e7"}]}]}
{"fen":"4k3/8/8/8/8/8/4Q3/K7 b - -","evals":[{"depth":9,"pvs":[{"cp":450,"line":"e8f7"}]}]}
{"fen":"4k3/8/8/8/8/8/4N3/K7 b - - 3 4","evals":[{"depth":9,"pvs":[{"cp":180}]}]}
{"fen":"4k3/8/8/8/8/8/3NN3/K7 b - -","evals":[{"depth":9,"pvs":[{"cp":700}]}]}
{"fen":"4k3/8/8/8/8/8/3QQ3/K7 b - -","evals":[{"depth":9,"pvs":[{"mate":4}]}]}
{"fen":"4k3/8/8/8/8/8/8/8 b - -","evals":[{"depth":9,"pvs":[{"cp":1}]}]}
{"fen":"4k3/8/8/8/8/8/3QQ3/K7 b - -"}
null
"#;

/// Builds items from made-up inputs: with all of them, and from puzzles alone.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let [puzzles, games, evaluations, comments_path] =
        ["puzzles.csv", "games", "evaluations.jsonl", "comments.jsonl"].map(|name| context.folder().join(name));
    fs_err::write(&comments_path, comments())?;
    fs_err::write(&puzzles, format!("{PUZZLES}{}own09,4k3/8/8/8\n", puzzles_of_games()))?;
    fs_err::write(&evaluations, EVALUATIONS)?;
    sample::write_games(&games, &sample::games())?;
    let values = context
        .values_with([("per_task", context.at_most("per_task", 2)), ("per_theme", context.at_most("per_theme", 2))]);
    let inputs = [("puzzles", puzzles), ("games", games), ("evaluations", evaluations), ("comments", comments_path)]
        .map(|(name, path)| (name, Label::stage(name), path));
    let mut output = context.run(&Questions, "all", &values, &inputs)?;
    output.extend(context.run(&Questions, "puzzles", &values, &inputs[..1])?);
    let reasoned = reasoning(context)?;
    if let Some(items) = reasoned.get("reasoning/items") {
        output.extend(judges(context, items)?);
    }
    output.extend(reasoned);
    Ok(output)
}

/// Items of Reasoning, from positions of the sample's games of which each legal move has a made-up value; one lacks a value.
/// Once more without the boards of these items.
fn reasoning(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let path = context.folder().join("values.parquet");
    let mut writer = EvaluationsWriter::create(&path, &Source::default())?;
    let mut position = Chess::default();
    for (record, &plain) in (0..).zip(sample::games().first().into_iter().flatten()) {
        let value =
            |packed: u16| (record != 3 || packed.is_multiple_of(2)).then(|| i32::from(packed) * 37 % 1_201 - 600);
        let line = |packed| Line { score: value(packed).map(Score::Centipawns), depth: None, moves: vec![packed] };
        let lines = position.legal_moves().iter().map(|played| line(PlainMove::from(*played).packed())).collect();
        let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
        writer.push(Evaluation { record, game: Some(1), id: String::new(), t: Some(record as u32), fen, lines })?;
        let Some(played) = legal(&position, plain) else { break };
        position.play_unchecked(played);
    }
    writer.finish()?;
    let tasks = Value::List(vec![Value::Text("reasoning_*".to_owned())]);
    let ranges = [("0-9", 0.5), ("10+", 0.5)].map(|(range, share)| (range.to_owned(), Value::Float(share)));
    let values = context.values_with([
        ("tasks", tasks),
        ("per_task", context.at_most("per_task", 3)),
        ("fullmoves", Value::Map(ranges.into())),
    ]);
    let input = ("evaluations", Label::stage("evaluations"), path);
    let mut output = context.run(&Questions, "reasoning", &values, std::slice::from_ref(&input))?;
    let apart = context.folder().join("apart.jsonl");
    fs_err::write(&apart, output.get("reasoning/items").map_or(&[][..], Vec::as_slice))?;
    let inputs = [input, ("apart", Label::stage("apart"), apart)];
    output.extend(context.run(&Questions, "apart", &values, &inputs)?);
    Ok(output)
}

/// Items of judges, about made-up answers to `items` of Reasoning.
fn judges(context: &ProbeContext, items: &[u8]) -> Result<ProbeOutput, Failure> {
    let [path, answers] = ["reasoning.jsonl", "answers"].map(|name| context.folder().join(name));
    fs_err::write(&path, items)?;
    let mut writer =
        AnswersWriter::create(&answers, &PlayerSettings { name: "made".to_owned(), ..PlayerSettings::default() })?;
    for item in read_items(items, "items", UnknownTasks::Keep)? {
        let response = Some(format!("=== {} <answer>{}</answer>", item.task_id, item.correct_answer));
        writer.push(Answer { task_id: item.task_id, response, ..Answer::default() })?;
    }
    writer.finish()?;
    let tasks = Value::List(vec![Value::Text("judge_*".to_owned())]);
    let values = context.values_with([("tasks", tasks), ("per_task", context.at_most("per_task", 2))]);
    let inputs = [("items", path), ("answers", answers)].map(|(name, path)| (name, Label::stage(name), path));
    context.run(&Questions, "judges", &values, &inputs)
}

/// Rows of puzzles: positions of the sample's games, with the next moves as solutions.
fn puzzles_of_games() -> String {
    let mut rows = String::new();
    for game in sample::games() {
        let mut position = Chess::default();
        for (ply, &plain) in game.iter().enumerate() {
            if let (0, Some(moves)) = (ply % STRIDE, game.get(ply..ply + 2 + ply % 2)) {
                let moves: Vec<String> = moves.iter().map(ToString::to_string).collect();
                let fen = Fen::from_position(&position, EnPassantMode::Legal);
                let (rating, themes) = (600 + ply * 137 % 1_800, THEMES[ply % THEMES.len()]);
                rows.push_str(&format!("{}-{ply},{fen},{},{rating},80,95,{themes}\n", game.len(), moves.join(" ")));
            }
            let Some(played) = legal(&position, plain) else { break };
            position.play_unchecked(played);
        }
    }
    rows
}

/// Six comments with phrases in common.
pub(crate) fn comments() -> String {
    let comment = |at: usize| {
        let (piece, phrase) = (["rook", "knight"][at % 2], ["check", "fork", "pin"][at % 3]);
        let text = format!("A {phrase} by the {piece} in the position {at}.");
        let line = json!({
            "game": 1, "ply": 2 * at + 1, "move_uci": "e2e4", "mover": "white", "piece": piece, "move_number": at + 1,
            "phase": "opening", "fen_before": "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "fen_after": "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1",
            "comment": text, "keywords": [phrase], "cleaned": text, "cleaned_by": "rules",
        });
        format!("{line}\n")
    };
    (0..6).map(comment).collect()
}
