//! Quoted texts in Python's syntax.

/// Takes the quoted text with which `rest` begins, and gives what it stands for; none if it is none.
pub(super) fn quoted(rest: &mut &str) -> Option<String> {
    let quote = rest.chars().next().filter(|quote| "'\"".contains(*quote))?;
    let triple = [quote; 3].iter().collect::<String>();
    let end = if rest.starts_with(&triple) { triple.as_str() } else { &triple[..1] };
    let mut text = String::new();
    let mut inside = &rest[end.len()..];
    loop {
        if let Some(after) = inside.strip_prefix(end) {
            *rest = after;
            return Some(text);
        }
        let mut characters = inside.chars();
        match characters.next()? {
            '\n' | '\r' if end.len() == 1 => return None,
            '\\' => {
                inside = characters.as_str();
                text.extend(escaped(&mut inside)?);
                continue;
            }
            character => text.push(character),
        }
        inside = characters.as_str();
    }
}

/// What an escape stands for, of which the backslash is taken. One that is not known stands for itself.
fn escaped(rest: &mut &str) -> Option<Escaped> {
    let mut characters = rest.chars();
    let character = characters.next()?;
    let before = *rest;
    *rest = characters.as_str();
    let one = |character| Some(Escaped::One(character));
    match character {
        '\n' => Some(Escaped::Nothing),
        '\r' => {
            *rest = rest.strip_prefix('\n').unwrap_or(rest);
            Some(Escaped::Nothing)
        }
        '\\' | '\'' | '"' => one(character),
        'a' => one('\x07'),
        'b' => one('\x08'),
        'f' => one('\x0c'),
        'n' => one('\n'),
        'r' => one('\r'),
        't' => one('\t'),
        'v' => one('\x0b'),
        'x' => one(numbered(rest, 2)?),
        'u' => one(numbered(rest, 4)?),
        'U' => one(numbered(rest, 8)?),
        // Names of characters.
        'N' => None,
        '0'..='7' => {
            let length = before.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            *rest = &before[length..];
            one(char::from_u32(u32::from_str_radix(&before[..length], 8).ok()?)?)
        }
        other => Some(Escaped::Itself(other)),
    }
}

/// The character of this many hexadecimal digits. Half of a pair of surrogates is no character of a text, and no letter: it is replaced.
fn numbered(rest: &mut &str, digits: usize) -> Option<char> {
    let number = rest.get(..digits).filter(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let number = u32::from_str_radix(number, 16).ok().filter(|number| *number <= u32::from(char::MAX))?;
    *rest = &rest[digits..];
    Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER))
}

enum Escaped {
    Nothing,
    One(char),
    /// The backslash and this character.
    Itself(char),
}

impl IntoIterator for Escaped {
    type Item = char;
    type IntoIter = std::iter::Flatten<std::array::IntoIter<Option<char>, 2>>;

    fn into_iter(self) -> Self::IntoIter {
        let characters = match self {
            Escaped::Nothing => [None, None],
            Escaped::One(character) => [Some(character), None],
            Escaped::Itself(character) => [Some('\\'), Some(character)],
        };
        characters.into_iter().flatten()
    }
}
