//! Literals as Python writes them.

/// A literal, as far as answers need it.
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
    /// A set, or a tuple with what cannot be in a set. Like a list, it cannot be in a set, nor the key of a dictionary.
    Unhashable,
    /// Anything else: another number, another tuple, bytes, `True`, `False`, `...`.
    Other,
}

/// The deepest brackets, as CPython has it.
const DEEPEST: usize = 200;

/// White space within a line.
const SPACE: [char; 3] = [' ', '\t', '\x0c'];

/// Characters that stand for another one after a backslash, and these.
const ESCAPED: [&str; 2] = ["\\'\"abfnrtv", "\\'\"\x07\x08\x0c\n\r\t\x0b"];

/// The literal that a text is as a whole, as Python's `ast.literal_eval` reads it; none if it is none. Not read are prefixes of
/// texts (but that of bytes), texts that stand side by side, names of characters (`\N{…}`), sums (`1 + 2j`), comments, and lines
/// that go on behind a backslash.
pub(crate) fn literal(text: &str) -> Option<Literal> {
    // A program in Python cannot have this character.
    if text.contains('\0') {
        return None;
    }
    let mut parser = Parser { rest: text, depth: 0 };
    let Entries { values, has_comma, .. } = parser.entries(None)?;
    // A tuple needs no brackets.
    if has_comma { Some(tuple(&values)) } else { values.into_iter().next() }
}

/// A tuple of these.
fn tuple(values: &[Literal]) -> Literal {
    if values.iter().all(is_hashable) { Literal::Other } else { Literal::Unhashable }
}

/// Returns true if the value can be in a set.
fn is_hashable(value: &Literal) -> bool {
    !matches!(value, Literal::List(_) | Literal::Dictionary(_) | Literal::Unhashable)
}

/// The content of brackets.
#[derive(Default)]
struct Entries {
    /// The values; of a dictionary these are the keys.
    values: Vec<Literal>,
    /// The second values of a dictionary.
    dictionary_values: Vec<Literal>,
    has_comma: bool,
}

struct Parser<'t> {
    rest: &'t str,
    /// The number of open brackets.
    depth: usize,
}

impl Parser<'_> {
    /// Takes the next character if it is the wanted one; none is the end of the text.
    fn take(&mut self, wanted: Option<char>) -> bool {
        let mut characters = self.rest.chars();
        let is_next = characters.next() == wanted;
        self.rest = if is_next { characters.as_str() } else { self.rest };
        is_next
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    /// Skips white space; a line end is such only within brackets.
    fn space(&mut self) {
        let within = self.depth > 0;
        self.rest = self.rest.trim_start_matches(|c| SPACE.contains(&c) || (within && matches!(c, '\n' | '\r')));
    }

    fn value(&mut self) -> Option<Literal> {
        self.space();
        match self.rest.chars().next()? {
            '\'' | '"' => self.quoted().map(Literal::Text),
            'b' | 'B' => {
                self.next();
                self.quoted().filter(|bytes| bytes.is_ascii()).map(|_| Literal::Other)
            }
            '[' => {
                let text = |entry| if let Literal::Text(text) = entry { Some(text) } else { None };
                self.within(']').map(|entries| Literal::List(entries.values.into_iter().map(text).collect()))
            }
            '(' => {
                let Entries { mut values, has_comma, .. } = self.within(')')?;
                // One value in parentheses is that value; a comma makes it a tuple.
                if has_comma { Some(tuple(&values)) } else { values.pop().or(Some(Literal::Other)) }
            }
            '{' => {
                let Entries { values, dictionary_values, .. } = self.within('}')?;
                if !values.iter().all(is_hashable) {
                    return None;
                }
                if values.len() > dictionary_values.len() {
                    return Some(Literal::Unhashable);
                }
                let entry = |(key, value)| if let Literal::Text(name) = key { Some((name, value)) } else { None };
                Some(Literal::Dictionary(values.into_iter().zip(dictionary_values).filter_map(entry).collect()))
            }
            _ => {
                let names = [
                    ("None", Literal::Nothing),
                    ("True", Literal::Other),
                    ("False", Literal::Other),
                    ("...", Literal::Other),
                    ("set()", Literal::Unhashable),
                ];
                let name = names.into_iter().find_map(|(name, value)| Some((self.rest.strip_prefix(name)?, value)));
                let (rest, value) = match name {
                    Some(name) => name,
                    None => {
                        let rest = number(self.rest)?;
                        let digits = &self.rest[..self.rest.len() - rest.len()];
                        (rest, digits.parse().map_or(Literal::Other, Literal::Whole))
                    }
                };
                self.rest = rest;
                Some(value)
            }
        }
    }

    /// The content of brackets, of which the opening one is next.
    fn within(&mut self, end: char) -> Option<Entries> {
        self.next();
        self.depth += 1;
        let entries = if self.depth > DEEPEST { None } else { self.entries(Some(end)) };
        self.depth -= 1;
        entries
    }

    /// The entries up to `end`, which is taken. All entries of a dictionary have a colon and a second value, and those
    /// of a set have none.
    fn entries(&mut self, end: Option<char>) -> Option<Entries> {
        let (mut entries, mut has_colons) = (Entries::default(), None);
        loop {
            self.space();
            if self.take(end) {
                return Some(entries);
            }
            entries.values.push(self.value()?);
            self.space();
            let has_colon = end == Some('}') && self.take(Some(':'));
            if *has_colons.get_or_insert(has_colon) != has_colon {
                return None;
            }
            if has_colon {
                entries.dictionary_values.push(self.value()?);
                self.space();
            }
            if !self.take(Some(',')) {
                return self.take(end).then_some(entries);
            }
            entries.has_comma = true;
        }
    }

    /// The value of the quoted text that is next.
    fn quoted(&mut self) -> Option<String> {
        let quote = self.rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let is_triple = self.rest.chars().take_while(|next| *next == quote).count() >= 3;
        let end = &self.rest[..if is_triple { 3 } else { 1 }];
        self.rest = &self.rest[end.len()..];
        let mut text = String::new();
        loop {
            if let Some(after) = self.rest.strip_prefix(end) {
                self.rest = after;
                return Some(text);
            }
            match self.next()? {
                '\n' | '\r' if !is_triple => return None,
                '\\' => self.escaped(&mut text)?,
                character => text.push(character),
            }
        }
    }

    /// Adds the character of an escape, of which the backslash is taken. An escape that is not known stands for itself.
    fn escaped(&mut self, text: &mut String) -> Option<()> {
        let digits = self.rest;
        let character = match self.next()? {
            '\n' => return Some(()),
            '\r' => {
                self.take(Some('\n'));
                return Some(());
            }
            'x' => self.code(2, 16)?,
            'u' => self.code(4, 16)?,
            'U' => self.code(8, 16)?,
            '0'..='7' => {
                self.rest = digits;
                self.code(digits.chars().take(3).take_while(|digit| digit.is_digit(8)).count(), 8)?
            }
            // The name of a character.
            'N' => return None,
            letter => match ESCAPED[0].chars().zip(ESCAPED[1].chars()).find(|(escaped, _)| *escaped == letter) {
                Some((_, meaning)) => meaning,
                None => {
                    text.push('\\');
                    letter
                }
            },
        };
        text.push(character);
        Some(())
    }

    /// The character with this number. Half of a pair of surrogates is no character of a text, and no letter: it is replaced.
    fn code(&mut self, digits: usize, radix: u32) -> Option<char> {
        let (number, after) = self.rest.split_at_checked(digits)?;
        let is_number = number.chars().all(|digit| digit.is_digit(radix));
        let number = u32::from_str_radix(number, radix).ok().filter(|_| is_number)?;
        self.rest = after;
        let is_in_range = number <= u32::from(char::MAX);
        is_in_range.then(|| char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

/// The rest behind the number with which a text begins, a sign before it included.
fn number(text: &str) -> Option<&str> {
    let text = text.strip_prefix(['+', '-']).map_or(text, |after| after.trim_start_matches(SPACE));
    let bytes = text.as_bytes();
    let is_inside = |at: &usize| match bytes[*at] {
        b'+' | b'-' => *at > 0 && bytes[at - 1].eq_ignore_ascii_case(&b'e'),
        byte => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'),
    };
    let (number, after) = text.split_at((0..bytes.len()).take_while(is_inside).count());
    let number = number.to_ascii_lowercase();
    let bases = [("0x", 16), ("0o", 8), ("0b", 2)];
    let based = bases.into_iter().find_map(|(prefix, radix)| Some((number.strip_prefix(prefix)?, radix)));
    let (digits, radix) = based.unwrap_or((&number, 10));
    let is_digit = |at: usize| digits.as_bytes().get(at).is_some_and(|digit| char::from(*digit).is_digit(radix));
    // Underscores stand between digits.
    if !digits.match_indices('_').all(|(at, _)| at > 0 && is_digit(at - 1) && is_digit(at + 1)) {
        return None;
    }
    let digits = digits.replace('_', "");
    let real = digits.strip_suffix('j').filter(|_| radix == 10).unwrap_or(&digits);
    let are_digits = !real.is_empty() && real.chars().all(|digit| digit.is_digit(radix));
    let is_number = match based {
        Some(_) => are_digits,
        // `inf` and `nan` are numbers of Rust alone.
        None => real.starts_with(|first| matches!(first, '0'..='9' | '.')) && real.parse::<f64>().is_ok(),
    };
    // A whole number does not begin with 0, if it is not 0.
    let is_padded =
        radix == 10 && are_digits && real == digits && real.starts_with('0') && real.contains(|digit| digit != '0');
    (is_number && !is_padded).then_some(after)
}
