//! The probe: a few games, of which one is longer than any form allows, the moves played in them as the best, and examples.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput};
use cwm_encoding::{PlainMove, legal};
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Source};
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position, Square};

use crate::Encode;

/// Examples of several builders.
const EXAMPLES: &str = concat!(
    r#"{"id":"a","messages":[{"role":"user","content":"?"},{"role":"assistant","content":"e1g1 e8d7 [Δ-12]"}],"#,
    r#""meta":{"builder":"best_line","fen":"4k3/2p5/8/3pP3/8/8/8/4K2R w K d6 0 1","plies":2}}"#,
    "\n",
    r#"{"id":"b","messages":[{"role":"user","content":"?"},{"role":"assistant","content":"Well. <think> Now (e7e8q) [v+900]."#,
    r#" </think> <answer> e7e8q </answer>"}],"meta":{"builder":"verbalised","fen":"8/4P3/8/8/8/2k5/8/K7 w - - 0 1"}}"#,
    "\n",
    r#"{"id":"c","messages":[{"role":"user","content":"?\n\n?\nHow many legal moves has your king at c3?"},"#,
    r#"{"role":"assistant","content":"8"}],"meta":{"builder":"factual","fen":"8/4P3/8/8/8/2k5/8/K7 b - - 0 1"}}"#,
    "\n",
    r#"{"id":"d","messages":[{"role":"user","content":"?"},{"role":"assistant","content":"<answer> c3b3 </answer>"}],"#,
    r#""meta":{"task":"reasoning_worst_move","candidates":["c3d4","c3b3"],"fen":"8/4P3/8/8/8/2k5/8/K7 b - - 0 1"}}"#,
    "\n",
);

/// Runs `encode` with its form on made-up games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let [games, evaluations] = ["games", "evaluations.parquet"].map(|name| context.folder().join(name));
    let mut played = sample::games();
    played.push(shuffle(600));
    sample::write_games(&games, &played)?;
    let source = Source { made_by: "probe".to_owned(), ..Source::default() };
    let mut writer = EvaluationsWriter::create(&evaluations, &source)?;
    let mut record = 0;
    for (index, game) in played.iter().enumerate() {
        for evaluation in evaluations_of(index as u64, game)? {
            // Not all: places without a label are part of a game.
            if record % 3 > 0 {
                writer.push(Evaluation { record, ..evaluation })?;
            }
            record += 1;
        }
    }
    writer.finish()?;
    let examples = context.folder().join("examples.jsonl");
    fs_err::write(&examples, EXAMPLES)?;
    let inputs = [("evaluations", evaluations), ("games", games), ("examples", examples)];
    let inputs = inputs.map(|(name, path)| (name, Label::stage("corpus"), path));
    context.run(&Encode, "run", context.values(), &inputs)
}

/// The moves of a game of so many plies in which knights go back and forth.
pub fn shuffle(plies: usize) -> Vec<PlainMove> {
    use Square::{F3, F6, G1, G8};
    let moves = [(G1, F3), (G8, F6), (F3, G1), (F6, G8)];
    moves.map(|(from, to)| PlainMove { from, to, promotion: None }).into_iter().cycle().take(plies).collect()
}

/// The positions of a sample's game but the last, with the moves played in them; records are not numbered yet.
pub fn evaluations_of(index: u64, game: &[PlainMove]) -> Result<Vec<Evaluation>, Failure> {
    let mut position = Chess::default();
    let mut evaluations = Vec::with_capacity(game.len());
    for (t, &plain) in (0..).zip(game) {
        evaluations.push(Evaluation {
            record: 0,
            game: Some(index),
            id: format!("sample_{index:04}"),
            t: Some(t),
            fen: Fen::from_position(&position, EnPassantMode::Legal).to_string(),
            lines: vec![Line { score: None, depth: None, moves: vec![plain.packed()] }],
        });
        let played = legal(&position, plain).ok_or_else(|| Failure::internal(format!("{plain} is not legal")))?;
        position.play_unchecked(played);
    }
    Ok(evaluations)
}
