//! Games as PGN text, with headers like those of Lichess's exports.

use std::fmt::Write;

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Move};

/// The headers of a game. There is no clock here: dates are unknown, `????.??.??`, as PGN has it.
pub struct Headers<'a> {
    /// The kind of game.
    pub event: &'a str,
    /// The place of the game: unique and stable, since ids are made of it.
    pub site: String,
    /// Name and rating of White; a rating where the player has one.
    pub white: (String, Option<u32>),
    /// Name and rating of Black.
    pub black: (String, Option<u32>),
    /// `1-0`, `0-1` or `1/2-1/2`.
    pub result: &'a str,
    /// The reason for its end, in Lichess's words where it has one.
    pub termination: &'a str,
}

/// The game as text, with an empty line after it.
pub fn pgn_text(headers: &Headers<'_>, moves: &[Move]) -> String {
    let mut text = String::with_capacity(320 + 8 * moves.len());
    let mut tag = |name: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(text, "[{name} \"{value}\"]");
    };
    tag("Event", &headers.event);
    tag("Site", &headers.site);
    tag("Date", &"????.??.??");
    tag("Round", &"-");
    tag("White", &headers.white.0);
    tag("Black", &headers.black.0);
    tag("Result", &headers.result);
    if let Some(rating) = headers.white.1 {
        tag("WhiteElo", &rating);
    }
    if let Some(rating) = headers.black.1 {
        tag("BlackElo", &rating);
    }
    tag("TimeControl", &"-");
    tag("Termination", &headers.termination);
    text.push('\n');
    let mut position = Chess::new();
    for (ply, &m) in moves.iter().enumerate() {
        if ply % 2 == 0 {
            let _ = write!(text, "{}. ", ply / 2 + 1);
        }
        SanPlus::from_move_and_play_unchecked(&mut position, m).append_to_string(&mut text);
        text.push(' ');
    }
    text.push_str(headers.result);
    text.push_str("\n\n");
    text
}

#[cfg(test)]
mod tests {
    use shakmaty::Position;
    use shakmaty::san::San;

    use super::*;

    #[test]
    fn a_game_is_written_as_lichess_writes_it() {
        let mut position = Chess::new();
        let moves: Vec<Move> = "f3 e5 g4 Qh4"
            .split(' ')
            .map(|san| {
                let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
                position.play_unchecked(m);
                m
            })
            .collect();
        let headers = Headers {
            event: "cwm engine game",
            site: "cwm_engine_0_000000".into(),
            white: ("cwm-1400".into(), Some(1400)),
            black: ("cwm-1500".into(), Some(1500)),
            result: "0-1",
            termination: "Normal",
        };
        let expected = "[Event \"cwm engine game\"]\n[Site \"cwm_engine_0_000000\"]\n[Date \"????.??.??\"]\n\
            [Round \"-\"]\n[White \"cwm-1400\"]\n[Black \"cwm-1500\"]\n[Result \"0-1\"]\n[WhiteElo \"1400\"]\n\
            [BlackElo \"1500\"]\n[TimeControl \"-\"]\n[Termination \"Normal\"]\n\n\
            1. f3 e5 2. g4 Qh4# 0-1\n\n";
        assert_eq!(pgn_text(&headers, &moves), expected);
    }
}
