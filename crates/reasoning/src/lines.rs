//! The builder `best_line`: the first plies of an engine's best line, and their gain.

use std::ops::RangeInclusive;

use cwm_evaluations::Score;
use shakmaty::{Chess, Move, Position};

use crate::board::BoardForm;
use crate::direct::direct;
use crate::draws::RandomChoices;
use crate::example::Example;
use crate::pieces::uci;

/// The numbers of plies that a question may have, each equally likely.
const PLIES: RangeInclusive<u32> = 4..=6;

/// A question for the first 4, 5 or 6 plies of `line`, the best line of a position with the value `start`. `value`
/// gives the value of the position after them for its side to move; it is not called for one without a legal move. None
/// if the line is too short, or a value is a mate and the line does not reach it.
///
/// # Errors
///
/// The errors of `value`.
pub fn best_line<E>(
    position: &Chess,
    form: BoardForm,
    line: &[Move],
    start: Score,
    draws: &mut RandomChoices,
    value: impl FnOnce(&Chess) -> Result<Score, E>,
) -> Result<Option<Example>, E> {
    let plies = draws.between(*PLIES.start(), *PLIES.end()) as usize;
    let Some(target) = line_target(position, line, plies, start, value)? else { return Ok(None) };
    let question = format!(
        "What are the next {plies} plies if both sides play their best moves? Write `mate` behind them if the last one mates, else \
         `[Δ+d]` or `[Δ-d]`: by how many centipawns d they change the value of the position for the side to move."
    );
    let mut example = direct("best_line", position, form, &[question], &target);
    example.meta.insert("plies", plies);
    Ok(Some(example))
}

fn line_target<E>(
    position: &Chess,
    line: &[Move],
    plies: usize,
    start: Score,
    value: impl FnOnce(&Chess) -> Result<Score, E>,
) -> Result<Option<String>, E> {
    let line = &line[..plies.min(line.len())];
    let mut end = position.clone();
    for &played in line {
        end.play_unchecked(played);
    }
    let moves = line.iter().map(|&played| uci(played)).collect::<Vec<_>>().join(" ");
    if end.is_checkmate() {
        return Ok(Some(format!("{moves} mate")));
    }
    let Score::Centipawns(start) = start else { return Ok(None) };
    if line.len() < plies {
        return Ok(None);
    }
    let end_value = if end.legal_moves().is_empty() { Score::Centipawns(0) } else { value(&end)? };
    let Score::Centipawns(end_value) = end_value else { return Ok(None) };
    let gained = if end.turn() == position.turn() { end_value } else { -end_value } - start;
    Ok(Some(format!("{moves} [Δ{gained:+}]")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use serde::Deserialize;
    use shakmaty::uci::UciMove;

    use super::*;
    use crate::golden;

    #[derive(Deserialize)]
    struct Golden {
        id: usize,
        cp: Option<i32>,
        mate: Option<i32>,
        pv: Vec<String>,
        targets: BTreeMap<usize, Option<String>>,
    }

    /// The value of the end is not among the golden data: a target's own difference gives it, so that its sign, its place and the
    /// cases without a target are what is compared.
    #[test]
    fn golden_targets() {
        let (Some(rows), Some(fens)) = (golden::lines::<Golden>("lines.jsonl"), golden::fens()) else { return };
        let mut compared = 0;
        for row in rows {
            let position = golden::position(&fens[row.id]);
            let mut end = position.clone();
            let line: Vec<Move> = row
                .pv
                .iter()
                .map(|uci| {
                    let played = uci.parse::<UciMove>().unwrap().to_move(&end).unwrap();
                    end.play_unchecked(played);
                    played
                })
                .collect();
            let start = row.cp.map(Score::Centipawns).or(row.mate.map(Score::Mate)).unwrap();
            for (plies, expected) in row.targets {
                let difference: Option<i32> = expected.as_deref().and_then(|target| {
                    target.split_once("[Δ").map(|(_, end)| end.trim_end_matches(']').parse().unwrap())
                });
                let value = |_: &Chess| {
                    let own = difference.map(|difference| difference + row.cp.unwrap());
                    let sign = if plies % 2 == 0 { 1 } else { -1 };
                    Ok::<_, Infallible>(own.map_or(Score::Mate(1), |own| Score::Centipawns(sign * own)))
                };
                assert_eq!(line_target(&position, &line, plies, start, value).unwrap(), expected, "{} {plies}", row.id);
                compared += 1;
            }
        }
        assert!(compared > 0);
    }

    #[test]
    fn a_line_without_a_value_is_no_example() {
        let position = Chess::default();
        let line = [position.legal_moves()[0]];
        let mut draws = RandomChoices::new("best_line", 0, 0);
        let value = |_: &Chess| -> Result<Score, String> { Err("not reached".to_owned()) };
        let built = best_line(&position, BoardForm::Fen, &line, Score::Centipawns(3), &mut draws, value);
        assert_eq!(built, Ok(None));
    }
}
