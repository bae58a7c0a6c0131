//! Numbers in Python's syntax.

/// Takes the number with which `rest` begins, with its sign, and with an imaginary part if there is one; false if there is none.
pub(super) fn number(rest: &mut &str) -> bool {
    let Some((after, _)) = signed(rest) else { return false };
    *rest = after;
    // A complex number is a sum.
    let sum = after.trim_start_matches([' ', '\t', '\x0c']);
    if sum.starts_with(['+', '-'])
        && let Some((after, true)) = unsigned(sum[1..].trim_start_matches([' ', '\t', '\x0c']))
    {
        *rest = after;
    }
    true
}

/// What follows a number with at most one sign, and whether it is imaginary.
fn signed(text: &str) -> Option<(&str, bool)> {
    unsigned(text.strip_prefix(['+', '-']).map_or(text, |after| after.trim_start_matches([' ', '\t', '\x0c'])))
}

fn unsigned(text: &str) -> Option<(&str, bool)> {
    for (letters, is_digit) in [
        (["0x", "0X"], u8::is_ascii_hexdigit as fn(&u8) -> bool),
        (["0o", "0O"], |digit| (b'0'..=b'7').contains(digit)),
        (["0b", "0B"], |digit| (b'0'..=b'1').contains(digit)),
    ] {
        if let Some(after) = letters.into_iter().find_map(|letters| text.strip_prefix(letters)) {
            let after = digits(after.strip_prefix('_').unwrap_or(after), is_digit)?;
            return ends(after).then_some((after, false));
        }
    }
    let whole = digits(text, u8::is_ascii_digit);
    let after_whole = whole.unwrap_or(text);
    let fraction = after_whole.strip_prefix('.').map(|after| digits(after, u8::is_ascii_digit).ok_or(after));
    let after_point = match fraction {
        Some(Ok(after)) => after,
        Some(Err(after)) if whole.is_some() => after,
        _ => after_whole,
    };
    let has_point = after_point.len() < after_whole.len();
    if whole.is_none() && !has_point {
        return None;
    }
    let exponent = after_point.strip_prefix(['e', 'E']).map(|after| after.strip_prefix(['+', '-']).unwrap_or(after));
    let after = exponent.map_or(Some(after_point), |after| digits(after, u8::is_ascii_digit))?;
    let is_whole = !has_point && exponent.is_none();
    let (after, is_imaginary) = after.strip_prefix(['j', 'J']).map_or((after, false), |after| (after, true));
    let digits_of_whole = &text[..text.len() - after_whole.len()];
    // A whole number does not begin with 0, if it is not 0.
    let is_padded =
        digits_of_whole.starts_with('0') && digits_of_whole.bytes().any(|digit| matches!(digit, b'1'..=b'9'));
    (ends(after) && !(is_whole && !is_imaginary && is_padded)).then_some((after, is_imaginary))
}

/// What follows one digit or more, with single underscores between them.
fn digits(text: &str, is_digit: fn(&u8) -> bool) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut end = 0;
    while bytes.get(end).is_some_and(is_digit) || (end > 0 && bytes[end - 1] != b'_' && bytes.get(end) == Some(&b'_')) {
        end += 1;
    }
    let has_digit = end > 0 && bytes[end - 1] != b'_';
    has_digit.then(|| &text[end..])
}

/// Whether a number may end here.
fn ends(after: &str) -> bool {
    !after.starts_with(|character: char| character.is_alphanumeric() || character == '_' || character == '.')
}
