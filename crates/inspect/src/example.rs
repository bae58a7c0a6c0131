//! One game as a person reads it: its first moves, and the position that it ends in.

use cwm_encoding::{EnPassant, LABELS, PlainMove, Replay, legal};
use serde::Serialize;
use shakmaty::san::SanPlus;

use crate::fen::fen;
use crate::format::{escape_controls, line, with_separators};

/// Plies whose moves are shown.
const OPENING: usize = 10;

/// Characters of an id, a site or a result that are shown.
const LONGEST: usize = 80;

/// A game of a folder.
#[derive(Clone, Copy, Debug)]
pub struct Game<'a> {
    /// Its place in the folder, from 0.
    pub row: usize,
    /// Ordinal among the kept games of the corpus.
    pub index: u64,
    /// Its name.
    pub id: &'a str,
    /// The place of the game, where it is kept.
    pub site: Option<&'a str>,
    /// Its result.
    pub result: &'a str,
    /// START, then one token a move.
    pub tokens: &'a [u16],
    /// Its labels, where it carries them.
    pub labels: Option<&'a [u8]>,
}

/// The description of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    row: usize,
    index: u64,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
    result: String,
    plies: usize,
    /// The first moves, numbered, in standard algebraic notation; as UCI writes them where the game carries its labels,
    /// since it may be of any variant.
    opening: String,
    /// The last position, in Forsyth-Edwards notation; the en passant square is set after every double pawn push, as in
    /// the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<String>,
    /// The reason if the moves are not a game.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

impl Example {
    /// Describes a game.
    pub fn new(game: &Game<'_>) -> Self {
        let (opening, ends, fault) = match game.labels {
            Some(labels) => (in_uci(game.tokens), labels.as_chunks::<LABELS>().0.last().map(fen), None),
            None => match replayed(game.tokens, OPENING) {
                Ok((opening, ends)) => (opening, Some(ends), None),
                Err(fault) => (in_uci(game.tokens), None, Some(fault)),
            },
        };
        Example {
            row: game.row,
            index: game.index,
            id: game.id.to_owned(),
            site: game.site.map(str::to_owned),
            result: game.result.to_owned(),
            plies: game.tokens.len().saturating_sub(1),
            opening,
            ends,
            fault,
        }
    }

    /// Adds the problem after the moves that are shown.
    pub fn with_fault(mut self, fault: Option<String>) -> Self {
        self.fault = fault.or(self.fault);
        self
    }

    /// Returns the lines for a terminal.
    pub fn lines(&self) -> Vec<String> {
        let [id, result] = [&self.id, &self.result].map(|text| escape_controls(text, LONGEST));
        let site = self.site.as_ref().map(|site| format!(", {}", escape_controls(site, LONGEST))).unwrap_or_default();
        let plies =
            if self.plies == 1 { "1 ply".to_owned() } else { format!("{} plies", with_separators(self.plies as u64)) };
        let more = if self.plies > OPENING { " …" } else { "" };
        let mut lines = vec![
            line(&format!("game {}", self.row), format!("{id}{site}, {result}, {plies}")),
            line("", format!("{}{more}", self.opening)),
        ];
        lines.extend(self.ends.iter().map(|ends| line("", format!("ends {ends}"))));
        lines.extend(self.fault.iter().map(|fault| line("", format!("is no game: {fault}"))));
        lines
    }
}

/// All moves of a game of standard chess, numbered; else why it is none.
pub fn whole_line(tokens: &[u16]) -> Result<String, String> {
    replayed(tokens, usize::MAX).map(|(moves, _)| moves)
}

/// The first `shown` moves and the last position of a game of standard chess; else why it is none.
fn replayed(tokens: &[u16], shown: usize) -> Result<(String, String), String> {
    let mut replay = Replay::new(tokens, EnPassant::Always);
    let mut moves = Vec::new();
    let mut last = None;
    for ply in 0.. {
        let position = (ply <= shown).then(|| replay.position().clone());
        let Some(row) = replay.advance().map_err(|error| error.to_string())? else { break };
        last = Some(*row);
        let plain = tokens.get(ply).copied().and_then(PlainMove::from_token);
        if let Some((mut position, plain)) = position.zip(plain) {
            let played =
                legal(&position, plain).map(|played| SanPlus::from_move_and_play_unchecked(&mut position, played));
            moves.extend(played.map(|played| played.to_string()));
        }
    }
    let ends = last.as_ref().map(fen).ok_or("it has no tokens")?;
    Ok((numbered(moves), ends))
}

fn in_uci(tokens: &[u16]) -> String {
    let name = |token: &u16| match PlainMove::from_token(*token) {
        // The token of a player who passes.
        Some(_) if *token == 0 => "--".to_owned(),
        Some(plain) => plain.to_string(),
        None => format!("token {token}"),
    };
    numbered(tokens.iter().skip(1).take(OPENING).map(name).collect())
}

fn numbered(moves: Vec<String>) -> String {
    let turns = moves.chunks(2).zip(1..);
    turns.map(|(turn, number): (&[String], u32)| format!("{number}. {}", turn.join(" "))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(moves: &str) -> Vec<u16> {
        let square = |text: &str| text.parse().unwrap();
        let token = |text: &str| {
            let promotion = text.get(4..).and_then(|role| role.chars().next()).and_then(shakmaty::Role::from_char);
            PlainMove { from: square(&text[..2]), to: square(&text[2..4]), promotion }.token()
        };
        std::iter::once(cwm_encoding::START).chain(moves.split_whitespace().map(token)).collect()
    }

    fn lines(tokens: &[u16], labels: Option<&[u8]>) -> Vec<String> {
        let game = Game { row: 3, index: 9, id: "cwm_9", site: Some("here"), result: "1-0", tokens, labels };
        Example::new(&game).lines()
    }

    #[test]
    fn a_game_is_reported_in_chess_notation() {
        assert_eq!(
            lines(&tokens("e2e4 g8f6 f1c4 f6e4 d1f3 b8c6 f3f7"), None),
            [
                "game 3      cwm_9, here, 1-0, 7 plies",
                "            1. e4 Nf6 2. Bc4 Nxe4 3. Qf3 Nc6 4. Qxf7#",
                "            ends r1bqkb1r/pppppQpp/2n5/8/2B1n3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4",
            ]
        );
        let long = lines(&tokens("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1"), None);
        assert_eq!(long[1], "            1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 …");
        assert_eq!(lines(&tokens("e2e4"), None)[0], "game 3      cwm_9, here, 1-0, 1 ply");
    }

    #[test]
    fn what_no_replay_gives_is_reported_from_its_labels_and_no_game_with_its_fault() {
        let moves = tokens("e2e4 a1a1 e2e4");
        let mut labels = vec![0; 4 * LABELS];
        cwm_encoding::replay_into(&moves[..2], EnPassant::Always, &mut labels[2 * LABELS..]).unwrap();
        let shown = lines(&moves, Some(&labels));
        assert_eq!(shown[1], "            1. e2e4 -- 2. e2e4");
        assert_eq!(shown[2], "            ends rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1");
        let shown = lines(&moves, None);
        assert_eq!(shown[2], "            is no game: token 0 (a1a1) at ply 2 is not a legal move");
        assert_eq!(lines(&[], None)[2], "            is no game: it has no tokens");
    }
}
