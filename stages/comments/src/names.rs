//! The players' names in comments, and other names.

/// The names of a game's players, and the side in place of each.
pub struct Names(Vec<(String, &'static str)>);

impl Names {
    /// The names that comments may have for the players: `Marble, Ada`, `Ada Marble`, `Marble`, `Ada`. Names that
    /// both have are dropped.
    pub fn of(white: &str, black: &str) -> Self {
        let (of_white, of_black) = (forms(white), forms(black));
        let mut names: Vec<_> = [(&of_white, &of_black, "White"), (&of_black, &of_white, "Black")]
            .into_iter()
            .flat_map(|(own, other, side)| {
                own.iter().filter(move |&name| !other.contains(name)).map(move |name| (name.clone(), side))
            })
            .collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Names(names)
    }

    /// The text with the side in place of each name that stands there as whole words.
    pub fn replaced_in(&self, text: &str) -> String {
        let mut replaced = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let is_start = !replaced.ends_with(char::is_alphanumeric);
            let named = self.0.iter().filter(|_| is_start).find_map(|(name, side)| {
                let after = rest.strip_prefix(name.as_str())?;
                (!after.starts_with(char::is_alphanumeric)).then_some((side, after))
            });
            match named {
                Some((side, after)) => {
                    replaced.push_str(side);
                    rest = after;
                }
                None => {
                    replaced.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        replaced
    }
}

fn forms(player: &str) -> Vec<String> {
    let player = player.trim();
    let mut forms = vec![player.to_owned()];
    if let Some((last, first)) = player.split_once(',') {
        forms.push(format!("{} {}", first.trim(), last.trim()));
    }
    forms.extend(player.split([',', ' ', '.']).map(str::to_owned));
    // An initial, `van` or `?` is no name, and `White` stands for a side.
    let is_name = |form: &String| {
        form.chars().filter(|c| c.is_alphabetic()).count() >= 2
            && form.starts_with(char::is_uppercase)
            && form != "White"
            && form != "Black"
    };
    forms.retain(is_name);
    forms
}

/// Words that are written with a capital and name nobody.
const NOBODY: [&str; 11] =
    ["White", "Black", "King", "Queen", "Rook", "Bishop", "Knight", "Pawn", "Kingside", "Queenside", "Chess"];

/// True if a capitalised word within a sentence names somebody or something.
pub fn has_other_name(text: &str) -> bool {
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let stem = bare.split(['\'', '’', '-']).next().unwrap_or_default();
        let is_capitalised = stem.starts_with(char::is_uppercase)
            && stem.chars().count() >= 2
            && stem.chars().all(char::is_alphabetic)
            && stem.chars().any(char::is_lowercase);
        let is_plural = |name: &str| stem.strip_suffix('s') == Some(name);
        if is_capitalised && !begins && !NOBODY.iter().any(|&name| stem == name || is_plural(name)) {
            return true;
        }
        begins = word.trim_end_matches(['"', '\'', ')', '”', '’']).ends_with(['.', '!', '?', '…', ':'])
            || bare.is_empty() && begins;
    }
    false
}
