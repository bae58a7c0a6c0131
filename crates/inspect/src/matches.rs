//! Describes the games of a match.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::{DescribeOptions, Description, Failure};
use cwm_encoding::{PlainMove, START};
use cwm_matches::{Matches, Participant};
use serde_json::json;

use crate::example::whole_line;
use crate::format::{escape_controls, line, with_separators};

/// Characters of a player's name that are shown.
const LONGEST: usize = 80;

/// Describes a file of format `matches`.
pub fn matches(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let file = Matches::open(path)?;
    let (players, total) = (file.description().clone(), file.total());
    let (mut won, mut drawn, mut lost, mut illegal_attempts) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut examples, mut shown) = (Vec::new(), Vec::new());
    for game in file {
        let game = game?;
        let count = if game.score > 0.5 {
            &mut won
        } else if game.score < 0.5 {
            &mut lost
        } else {
            &mut drawn
        };
        *count += 1;
        illegal_attempts += u64::from(game.illegal_attempts);
        *ends.entry(game.end.word()).or_default() += 1;
        if examples.len() < detail.examples {
            let moves = game.moves.iter().map(|&packed| PlainMove::from_packed(packed));
            let moves = moves.map(|plain| plain.map_or(u16::MAX, PlainMove::token));
            let tokens: Vec<u16> = std::iter::once(START).chain(moves).collect();
            let moves = whole_line(&tokens).unwrap_or_else(|fault| format!("is no game: {fault}"));
            let [white, black] = [&game.white, &game.black].map(|name| escape_controls(name, LONGEST));
            let result = escape_controls(&game.result, LONGEST);
            let about = format!("{white} against {black}, {result}, {}, {} plies", game.end, game.plies);
            shown.extend([String::new(), line(&format!("game {}", game.game), about), line("", &moves)]);
            examples.push(json!({
                "game": game.game, "white": game.white, "black": game.black, "result": game.result,
                "end": game.end, "plies": game.plies, "moves": moves,
            }));
        }
    }
    let mut lines = vec![line("first", player(&players.first)), line("second", player(&players.second))];
    lines.extend(players.engine.iter().map(|engine| line("engine", escape_controls(&engine.name, LONGEST))));
    lines.push(line("games", with_separators(total)));
    let [wins, draws, losses] = [won, drawn, lost].map(with_separators);
    lines.push(line("first player", format!("won {wins}, drew {draws}, lost {losses}")));
    let mut by_number: Vec<_> = ends.iter().collect();
    by_number.sort_by_key(|(word, games)| (std::cmp::Reverse(**games), **word));
    let by_number: Vec<_> =
        by_number.iter().map(|(word, games)| format!("{word} {}", with_separators(**games))).collect();
    lines.push(line("ends", by_number.join(", ")));
    lines.push(line("illegal", format!("{} answers of models", with_separators(illegal_attempts))));
    lines.append(&mut shown);
    let facts = json!({
        "players": players, "games": total, "won": won, "drawn": drawn, "lost": lost, "ends": ends,
        "illegal_attempts": illegal_attempts, "examples": examples,
    });
    Ok(Description { lines, facts })
}

/// `model board/none d64/l2, seed 3`.
fn player(player: &Participant) -> String {
    let texts = [Some(&player.kind), player.arm.as_ref(), player.size.as_ref()];
    let texts: Vec<_> = texts.into_iter().flatten().map(|text| escape_controls(text, LONGEST)).collect();
    texts.join(" ") + &player.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default()
}
