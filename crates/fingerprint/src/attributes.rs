//! The attributes that matter to what code computes.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Returns true if an item with these attributes exists only in tests.
pub(crate) fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let condition = match &attribute.meta {
            syn::Meta::List(list) if path.is_ident("cfg") => Some(list.tokens.clone()),
            _ => None,
        };
        path.is_ident("test") || condition.is_some_and(needs_test)
    })
}

/// Returns true if a `cfg` condition can hold only when tests are built.
fn needs_test(condition: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = condition.into_iter().collect();
    let (word, list) = match tokens.as_slice() {
        [TokenTree::Ident(word)] => (word.to_string(), None),
        [TokenTree::Ident(word), TokenTree::Group(list)] => (word.to_string(), Some(list)),
        _ => return false,
    };
    match (word.as_str(), list) {
        ("test", None) => true,
        ("all", Some(list)) => split(list.stream()).into_iter().any(needs_test),
        ("any", Some(list)) => {
            let conditions = split(list.stream());
            !conditions.is_empty() && conditions.into_iter().all(needs_test)
        }
        _ => false,
    }
}

/// Returns the tokens between the brackets of an attribute, without documentation; none if nothing is left.
pub(crate) fn without_documentation(attribute: TokenStream) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = attribute.clone().into_iter().collect();
    let Some(TokenTree::Ident(word)) = tokens.first() else { return Some(attribute) };
    if word == "doc" {
        return None;
    }
    let conditional = word == "cfg_attr";
    if let Some(TokenTree::Group(list)) = tokens.last_mut() {
        let mut entries = split(list.stream());
        if conditional && !entries.is_empty() {
            let condition = entries.remove(0);
            entries = entries.into_iter().filter_map(without_documentation).collect();
            if entries.is_empty() || needs_test(condition.clone()) {
                return None;
            }
            entries.insert(0, condition);
        }
        // An attribute holds no tuples, so a comma after the last entry says nothing.
        if list.delimiter() == Delimiter::Parenthesis {
            *list = Group::new(Delimiter::Parenthesis, join(entries));
        }
    }
    Some(tokens.into_iter().collect())
}

/// The entries of a list that commas part; a comma at the end adds none.
fn split(list: TokenStream) -> Vec<TokenStream> {
    let mut entries = vec![Vec::new()];
    for token in list {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => entries.push(Vec::new()),
            _ => entries.last_mut().expect("never empty").push(token),
        }
    }
    entries.retain(|entry| !entry.is_empty());
    entries.into_iter().map(TokenStream::from_iter).collect()
}

fn join(entries: Vec<TokenStream>) -> TokenStream {
    let comma = || TokenTree::from(proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone));
    let mut list = TokenStream::new();
    for (at, entry) in entries.into_iter().enumerate() {
        if at > 0 {
            list.extend([comma()]);
        }
        list.extend(entry);
    }
    list
}
