//! Rules that remove marks from a comment: `[%…]`, annotation glyphs, figurines and the numbers of moves.

use shakmaty::san::SanPlus;

/// The comment without marks, each run of white space one space.
pub fn without_marks(comment: &str) -> String {
    let text = without_glyphs(&without_commands(comment));
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let (mut kept, mut opened) = (Vec::new(), String::new());
    for (at, token) in tokens.iter().enumerate() {
        let (opening, rest) = token.split_at(token.find(char::is_alphanumeric).unwrap_or(0));
        let word = match after_move_number(rest) {
            // `(24...` before its move, which is the next word.
            Some("") if tokens.get(at + 1).is_some_and(|next| is_move(next)) => {
                opened.push_str(opening);
                continue;
            }
            Some(word) if is_move(word) => word,
            _ => rest,
        };
        kept.push(format!("{}{opening}{word}", std::mem::take(&mut opened)));
    }
    kept.join(" ")
}

/// The text without `[%clk 0:09:58]` and the like, which programs write.
fn without_commands(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, command)) = rest.split_once("[%") {
        kept.push_str(before);
        rest = command.split_once(']').map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// The text without `$1` and the signs of pieces.
fn without_glyphs(text: &str) -> String {
    let mut kept = String::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '$' if characters.peek().is_some_and(char::is_ascii_digit) => {
                while characters.next_if(char::is_ascii_digit).is_some() {}
            }
            '\u{2654}'..='\u{265f}' => {}
            _ => kept.push(c),
        }
    }
    kept
}

/// The rest of a word that begins with a move number and its dots.
fn after_move_number(word: &str) -> Option<&str> {
    let dots = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = dots.trim_start_matches(['.', '…']);
    ((1..=3).contains(&(word.len() - dots.len())) && rest.len() < dots.len()).then_some(rest)
}

/// True if a word is a move in algebraic notation.
fn is_move(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '#'));
    SanPlus::from_ascii(word.as_bytes()).is_ok()
}
