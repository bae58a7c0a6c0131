//! Tokens as bytes: equal for two texts that differ only in space, comments and documentation.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

use crate::attributes;

/// One byte for the kind of each token, then its text with its length before it; groups open and close with a byte
/// each. Comments are no tokens; documentation is an attribute, and left out here, inside macros too.
pub(crate) fn encode(tokens: TokenStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(tokens, &mut bytes);
    bytes
}

fn write(tokens: TokenStream, bytes: &mut Vec<u8>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let Some((length, inside)) = attribute(&tokens[at..]) {
            if let Some(kept) = attributes::without_documentation(inside.stream()) {
                for mark in &tokens[at..at + length - 1] {
                    text(b'a', &mark.to_string(), bytes);
                }
                write_group(&Group::new(Delimiter::Bracket, kept), bytes);
            }
            at += length;
            continue;
        }
        match &tokens[at] {
            TokenTree::Group(group) => write_group(group, bytes),
            TokenTree::Ident(ident) => text(b'i', &ident.to_string(), bytes),
            TokenTree::Literal(literal) => write_literal(&literal.to_string(), bytes),
            TokenTree::Punct(punct) => {
                let joined = punct.spacing() == Spacing::Joint && is_operator(punct.as_char(), tokens.get(at + 1));
                bytes.extend([if joined { b'j' } else { b'p' }, punct.as_char() as u8]);
            }
        }
        at += 1;
    }
}

/// The attribute that begins here: how many tokens it takes, and its brackets.
fn attribute(tokens: &[TokenTree]) -> Option<(usize, &Group)> {
    let is = |at: usize, mark: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == mark);
    if !is(0, '#') {
        return None;
    }
    let length = if is(1, '!') { 3 } else { 2 };
    match tokens.get(length - 1) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => Some((length, group)),
        _ => None,
    }
}

fn write_group(group: &Group, bytes: &mut Vec<u8>) {
    let (open, close) = match group.delimiter() {
        Delimiter::Parenthesis => (b'(', b')'),
        Delimiter::Brace => (b'{', b'}'),
        Delimiter::Bracket => (b'[', b']'),
        Delimiter::None => return write(group.stream(), bytes),
    };
    bytes.push(open);
    write(group.stream(), bytes);
    bytes.push(close);
}

/// A string that goes on after `\` at a line's end is taken by its value, since its text holds the indentation.
fn write_literal(literal: &str, bytes: &mut Vec<u8>) {
    if literal.contains("\\\n") {
        match syn::parse_str::<syn::Lit>(literal) {
            Ok(syn::Lit::Str(string)) if !literal.starts_with('r') => return text(b's', &string.value(), bytes),
            Ok(syn::Lit::ByteStr(string)) if !literal.starts_with("br") => {
                bytes.push(b'b');
                return field(&string.value(), bytes);
            }
            _ => {}
        }
    }
    text(b'l', literal, bytes);
}

fn text(kind: u8, text: &str, bytes: &mut Vec<u8>) {
    bytes.push(kind);
    field(text.as_bytes(), bytes);
}

fn field(content: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(content);
}

/// Returns true if two characters that stand side by side are read as one operator, or begin or end one. Inside a macro the
/// lexer calls `=-` in `x=-1` joint too, though it means the same as `x = -1`.
fn is_operator(first: char, next: Option<&TokenTree>) -> bool {
    let second = match next {
        Some(TokenTree::Punct(punct)) => punct.as_char(),
        // The quote of a lifetime.
        Some(TokenTree::Ident(_)) => return first == '\'',
        _ => return false,
    };
    match second {
        '=' => "=!<>+-*/%^&|.".contains(first),
        '&' | '|' | '<' | ':' | '.' => first == second,
        '>' => "->=".contains(first),
        _ => false,
    }
}
