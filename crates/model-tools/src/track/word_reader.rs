//! The moves in a line of text, among what else people write there.

/// The words of moves in lines of text, line by line: without numbers, results, annotations, comments and variations.
/// A word need not be a move: the caller rejects what is none.
#[derive(Debug, Default)]
pub struct WordReader {
    /// True if a comment in braces is open.
    in_comment: bool,
    /// Number of open variations.
    variations: usize,
    /// The result that ended the game.
    result: Option<String>,
}

/// The words of a line.
#[derive(Debug, Default, PartialEq)]
pub struct Line {
    /// The words of moves.
    pub words: Vec<String>,
    /// The first word after the game's end, and the result that ended it.
    pub after: Option<(String, String)>,
}

impl WordReader {
    /// The words of the next line.
    pub fn of(&mut self, line: &str) -> Line {
        let mut words = Line::default();
        let mut word = String::new();
        for letter in line.chars() {
            let apart = letter.is_whitespace() || letter.is_control() || "{}();!?,".contains(letter);
            if self.in_comment {
                self.in_comment = letter != '}';
                continue;
            }
            if !apart {
                word.push(letter);
                continue;
            }
            self.end(&mut word, &mut words);
            match letter {
                '{' => self.in_comment = true,
                ';' => break,
                '(' => self.variations += 1,
                ')' => self.variations = self.variations.saturating_sub(1),
                _ => {}
            }
        }
        self.end(&mut word, &mut words);
        words
    }

    fn end(&mut self, word: &mut String, line: &mut Line) {
        let word = std::mem::take(word);
        if self.variations > 0 {
            return;
        }
        if ["1-0", "0-1", "1/2-1/2", "½-½", "*"].contains(&word.as_str()) {
            self.result = self.result.take().or(Some(word));
            return;
        }
        if word.starts_with('$') {
            return;
        }
        let plain = if word.starts_with("0-0") || word == "0000" { word.as_str() } else { without_number(&word) };
        if plain.is_empty() || ["e.p.", "ep"].contains(&plain) {
            return;
        }
        match &self.result {
            None => line.words.push(plain.to_owned()),
            Some(result) => _ = line.after.get_or_insert_with(|| (plain.to_owned(), result.clone())),
        }
    }
}

/// `Nf3` of `12.Nf3` and `12...Nf3`; nothing of `12` and `12.`.
fn without_number(word: &str) -> &str {
    word.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches(['.', '…'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_reported_from_what_stands_around_them() {
        let mut words = WordReader::default();
        let of = |words: &mut WordReader, line: &str| words.of(line).words.join(" ");
        assert_eq!(of(&mut words, "1. e4 e5 2.Nf3 2...Nc6 3… Bb5!? a6$14 $3"), "e4 e5 Nf3 Nc6 Bb5 a6$14");
        assert_eq!(of(&mut words, "e2e4 e7e8q,0-0-0 O-O"), "e2e4 e7e8q 0-0-0 O-O");
        assert_eq!(of(&mut words, "d4 {a comment (that"), "d4");
        assert_eq!(of(&mut words, "goes on} d5 (2. c4 (2. e4"), "d5");
        assert_eq!(of(&mut words, "x) y) c4 ; e5"), "c4");
        assert_eq!(of(&mut words, "exd6 e.p. 0000 --"), "exd6 0000 --");
        assert_eq!(of(&mut words, ""), "");
    }

    #[test]
    fn a_result_ends_the_game_and_what_follows_is_reported() {
        for result in ["1-0", "0-1", "1/2-1/2", "½-½", "*"] {
            let mut words = WordReader::default();
            let line = words.of(&format!("e4 {{ 1-0 }} (1. d4 *) e5 {result} {{a comment}} $1"));
            assert_eq!((line.words.join(" ").as_str(), line.after), ("e4 e5", None));
            assert_eq!(words.of(""), Line::default());
            let after = Some(("d4".to_owned(), result.to_owned()));
            assert_eq!(words.of("1. d4 d5"), Line { words: Vec::new(), after });
        }
    }
}
