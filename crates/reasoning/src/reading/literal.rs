//! Literals as Python writes them.

use super::number::number;
use super::quoted::quoted;

/// What a literal is, as far as answers need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    /// A quoted text.
    Text(String),
    /// A list; an entry that is no text is none.
    List(Vec<Option<String>>),
    /// A dictionary: its entries with texts as keys, in their order.
    Dictionary(Vec<(String, Literal)>),
    /// A whole number in decimal digits, within 64 bits.
    Whole(i64),
    /// `None`.
    Nothing,
    /// Anything else: another number, a tuple, a set, bytes, `True`, `False`, `...`.
    Other,
}

/// The deepest brackets, as CPython has it.
const DEEPEST: usize = 200;

/// The literal that a text is as a whole, as Python's `ast.literal_eval` reads it; none if it is none. Texts with a prefix (but
/// bytes), texts that are joined by standing side by side, names of characters (`\N{…}`) and comments are not read.
pub(crate) fn literal(text: &str) -> Option<Literal> {
    // A program in Python cannot have this character.
    if text.contains('\0') {
        return None;
    }
    let mut parser = Parser { rest: text, depth: 0 };
    let first = parser.value()?;
    parser.space();
    let literal = match parser.take(',') {
        // A tuple needs no brackets.
        true => parser.values("").map(|_| Literal::Other)?,
        false => first,
    };
    parser.space();
    parser.rest.is_empty().then_some(literal)
}

struct Parser<'t> {
    rest: &'t str,
    /// The number of open brackets.
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self, wanted: char) -> bool {
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn take_word(&mut self, word: &str) -> bool {
        let after = self.rest.strip_prefix(word).filter(|after| !after.starts_with(is_of_a_name));
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Skips white space; a line end is such only within brackets.
    fn space(&mut self) {
        let within = self.depth > 0;
        self.rest = self.rest.trim_start_matches(|c| " \t\x0c".contains(c) || (within && "\n\r".contains(c)));
    }

    fn value(&mut self) -> Option<Literal> {
        self.space();
        match self.rest.chars().next()? {
            '\'' | '"' => quoted(&mut self.rest).map(Literal::Text),
            'b' | 'B' => {
                self.rest = &self.rest[1..];
                quoted(&mut self.rest).filter(|bytes| bytes.is_ascii()).map(|_| Literal::Other)
            }
            '[' => {
                let entries = self.within(|parser| parser.values("]"))?;
                let text = |entry| if let Literal::Text(text) = entry { Some(text) } else { None };
                Some(Literal::List(entries.into_iter().map(text).collect()))
            }
            '(' => self.within(Parser::in_parentheses),
            '{' => self.within(Parser::in_braces),
            _ if self.take_word("None") => Some(Literal::Nothing),
            _ if self.take_word("True") || self.take_word("False") || self.ellipsis() => Some(Literal::Other),
            _ => {
                let before = self.rest;
                let is_number = number(&mut self.rest);
                let digits = &before[..before.len() - self.rest.len()];
                is_number.then(|| digits.parse().map_or(Literal::Other, Literal::Whole))
            }
        }
    }

    fn ellipsis(&mut self) -> bool {
        let after = self.rest.strip_prefix("...");
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// What stands within brackets, of which the first is next; `inside` takes the last.
    fn within<T>(&mut self, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.rest = &self.rest[1..];
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let found = inside(self);
        self.depth -= 1;
        found
    }

    /// Values with commas between them up to `end`, which is taken; an empty one is the end of the text.
    fn values(&mut self, end: &str) -> Option<Vec<Literal>> {
        let mut values = Vec::new();
        loop {
            self.space();
            if self.end(end) {
                return Some(values);
            }
            values.push(self.value()?);
            self.space();
            if !self.take(',') {
                return self.end(end).then_some(values);
            }
        }
    }

    fn end(&mut self, end: &str) -> bool {
        if end.is_empty() {
            return self.rest.is_empty();
        }
        let after = self.rest.strip_prefix(end);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// A value in parentheses is that value; a comma makes it a tuple.
    fn in_parentheses(&mut self) -> Option<Literal> {
        self.space();
        if self.take(')') {
            return Some(Literal::Other);
        }
        let first = self.value()?;
        self.space();
        if self.take(')') {
            return Some(first);
        }
        self.take(',').then_some(())?;
        self.values(")").map(|_| Literal::Other)
    }

    /// A dictionary if a colon follows the first value, else a set.
    fn in_braces(&mut self) -> Option<Literal> {
        let mut is_dictionary = None;
        let mut entries = Vec::new();
        let mut ends = false;
        while !ends {
            self.space();
            if self.take('}') {
                break;
            }
            let key = self.value()?;
            self.space();
            let has_colon = self.take(':');
            if *is_dictionary.get_or_insert(has_colon) != has_colon {
                return None;
            }
            if has_colon {
                let value = self.value()?;
                self.space();
                if let Literal::Text(name) = key {
                    entries.push((name, value));
                }
            }
            ends = !self.take(',');
            if ends && !self.take('}') {
                return None;
            }
        }
        Some(if is_dictionary == Some(false) { Literal::Other } else { Literal::Dictionary(entries) })
    }
}

/// Whether the character may stand in a name.
fn is_of_a_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
