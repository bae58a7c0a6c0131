//! The variants that python-chess supports, by its names for them.

/// The rules of a game. Chess960 is no variant here but a property of the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Standard chess, from whatever position.
    Standard,
    /// Captures are compulsory; no king counts; who has least wins.
    Suicide,
    /// As suicide chess, but for who wins.
    Giveaway,
    /// Giveaway without castling.
    Antichess,
    /// Captures explode.
    Atomic,
    /// A king in the centre wins.
    KingOfTheHill,
    /// The first king on the eighth rank wins; no check may be given.
    RacingKings,
    /// White has pawns and no king.
    Horde,
    /// The third check wins.
    ThreeCheck,
    /// Captured pieces may be dropped.
    Crazyhouse,
}

const NAMES: &[(Variant, &[&str])] = &[
    (Variant::Standard, &["standard", "chess", "classical", "normal", "illegal", "from position"]),
    (Variant::Suicide, &["suicide", "suicide chess"]),
    (Variant::Giveaway, &["giveaway", "giveaway chess", "give away", "give away chess"]),
    (Variant::Antichess, &["antichess", "anti chess", "anti"]),
    (Variant::Atomic, &["atomic", "atom", "atomic chess"]),
    (Variant::KingOfTheHill, &["king of the hill", "koth", "kingofthehill"]),
    (Variant::RacingKings, &["racing kings", "racing", "race", "racingkings"]),
    (Variant::Horde, &["horde", "horde chess"]),
    (
        Variant::ThreeCheck,
        &["three-check", "three check", "threecheck", "three check chess", "3-check", "3 check", "3check"],
    ),
    (Variant::Crazyhouse, &["crazyhouse", "crazy house", "house", "zh"]),
];

/// Names of standard chess with shuffled pieces.
const CHESS960: [&str; 5] = ["chess960", "chess 960", "fischerandom", "fischerrandom", "fischer random"];

/// Odd starts of a chess server, which need a FEN.
const WILD: [&str; 10] =
    ["wild/0", "wild/1", "wild/2", "wild/3", "wild/4", "wild/5", "wild/6", "wild/7", "wild/8", "wild/8a"];

impl Variant {
    /// The variant that a `Variant` tag names, and whether it is Chess960; `None` where python-chess has none of that
    /// name. White space counts, case does not.
    pub fn named(name: &str) -> Option<(Variant, bool)> {
        let name = name.to_lowercase();
        let name = name.as_str();
        if CHESS960.contains(&name) {
            return Some((Variant::Standard, true));
        }
        if WILD.contains(&name) {
            return Some((Variant::Standard, false));
        }
        NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(variant, _)| (*variant, false))
    }

    /// Returns the initial position of games without a `FEN` tag.
    pub fn initial_fen(self) -> &'static str {
        match self {
            Variant::Antichess => "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1",
            Variant::RacingKings => "8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1",
            Variant::Horde => "rnbqkbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 1",
            _ => "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        }
    }

    /// Returns true if captures are compulsory and kings are pieces like others.
    pub fn is_suicide(self) -> bool {
        matches!(self, Variant::Suicide | Variant::Giveaway | Variant::Antichess)
    }
}
