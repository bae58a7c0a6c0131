//! The classes of a square that a linear probe predicts.

/// Classes of a square; class 0 is always the empty square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Piece and colour: 13 classes, those of labels.
    Both,
    /// The piece, whatever its colour: 7 classes.
    Piece,
    /// The colour of the piece: 3 classes.
    Colour,
    /// The colour as own or other, seen from the side to move: 3 classes.
    Mine,
}

impl Target {
    /// All names, as parameters spell them.
    pub const NAMES: &'static [&'static str] = &["both", "piece", "colour", "mine"];

    /// The target of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Target::Both, Target::Piece, Target::Colour, Target::Mine].into_iter().find(|target| target.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Target::Both => "both",
            Target::Piece => "piece",
            Target::Colour => "colour",
            Target::Mine => "mine",
        }
    }

    /// Names of its classes, in their order.
    pub fn classes(self) -> &'static [&'static str] {
        match self {
            Target::Both => &[".", "P", "N", "B", "R", "Q", "K", "p", "n", "b", "r", "q", "k"],
            Target::Piece => &[".", "P", "N", "B", "R", "Q", "K"],
            Target::Colour => &[".", "white", "black"],
            Target::Mine => &[".", "mine", "theirs"],
        }
    }

    /// The class of a square with the label `label` (0 to 12), where Black is to move or not.
    pub fn class(self, label: u8, is_black_to_move: bool) -> u8 {
        let is_black = label > 6;
        match self {
            Target::Both => label,
            Target::Piece => label - if is_black { 6 } else { 0 },
            _ if label == 0 => 0,
            Target::Colour => 1 + u8::from(is_black),
            Target::Mine => 1 + u8::from(is_black != is_black_to_move),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_their_names() {
        for (target, name) in [Target::Both, Target::Piece, Target::Colour, Target::Mine].into_iter().zip(Target::NAMES)
        {
            assert_eq!((target.name(), Target::named(name)), (*name, Some(target)));
        }
        // A white queen (5), a black knight (8), with Black to move.
        let named = |target: Target, label| target.classes()[usize::from(target.class(label, true))];
        assert_eq!(Target::NAMES.map_targets(|target| named(target, 5)), ["Q", "Q", "white", "theirs"]);
        assert_eq!(Target::NAMES.map_targets(|target| named(target, 8)), ["n", "N", "black", "mine"]);
        assert_eq!(Target::NAMES.map_targets(|target| named(target, 0)), ["."; 4]);
        assert_eq!(Target::Mine.class(5, false), 1);
    }

    trait MapTargets {
        fn map_targets<T>(&self, of: impl Fn(Target) -> T) -> Vec<T>;
    }

    impl MapTargets for &[&str] {
        fn map_targets<T>(&self, of: impl Fn(Target) -> T) -> Vec<T> {
            self.iter().filter_map(|name| Target::named(name)).map(of).collect()
        }
    }
}
