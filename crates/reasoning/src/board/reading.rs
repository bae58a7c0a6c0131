//! A position from its text.

/// The FEN that a text in one of the four forms stands for.
///
/// # Errors
///
/// A drawing lacks a line, which the error names. The FEN is not checked to be a position of a game.
pub fn board_from_text(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.starts_with("8|") {
        return from_drawing(text);
    }
    Ok(match text.split_once("  ") {
        Some((placement, fields)) => format!("{} {fields}", placement.replace(' ', "")),
        None => text.to_owned(),
    })
}

fn from_drawing(text: &str) -> Result<String, String> {
    let mut placement = Vec::new();
    for rank in ('1'..='8').rev() {
        let line = text.lines().find_map(|line| line.trim_end().strip_prefix(rank)?.strip_prefix('|'));
        let line = line.ok_or_else(|| format!("the drawing has no line of rank {rank}"))?;
        placement.push(rank_placement(line));
    }
    let after = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix("- ")?.strip_prefix(name));
    let wanted = |name: &str| after(name).ok_or_else(|| format!("the text has no line '- {name}…'"));
    let turn = if wanted("It is ")?.starts_with('W') { 'w' } else { 'b' };
    let rights = after("Castling rights: ").unwrap_or_default();
    let letters = [("White", "king", 'K'), ("White", "queen", 'Q'), ("Black", "king", 'k'), ("Black", "queen", 'q')];
    let mut castling: String = letters
        .into_iter()
        .filter(|(color, side, _)| rights.contains(&format!("{color} can castle {side}side")))
        .map(|(_, _, letter)| letter)
        .collect();
    if castling.is_empty() {
        castling.push('-');
    }
    let en_passant = after("En passant target square: ").map_or("-", |square| square.trim_end_matches('.'));
    let (halfmoves, fullmoves) = (wanted("Halfmove clock: ")?, wanted("Fullmove number: ")?);
    Ok(format!("{} {turn} {castling} {en_passant} {halfmoves} {fullmoves}", placement.join("/")))
}

/// A line of the drawing as a FEN writes it.
fn rank_placement(line: &str) -> String {
    let mut placement = String::new();
    let mut empty = 0;
    for square in line.split_ascii_whitespace() {
        if square == "." {
            empty += 1;
            continue;
        }
        if empty > 0 {
            placement.push_str(&empty.to_string());
            empty = 0;
        }
        placement.push_str(square);
    }
    if empty > 0 {
        placement.push_str(&empty.to_string());
    }
    placement
}
