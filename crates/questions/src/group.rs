//! The distinctions between the tasks of a category: levels, themes, bands, and the choice of wrong options.

/// A level of Short Tactics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Rated up to 999.
    Beginner,
    /// Rated up to 1499.
    Intermediate,
    /// Rated up to 1999.
    Advanced,
    /// Rated 2000 and more.
    Expert,
}

impl Level {
    /// All four, ascending.
    pub const ALL: [Level; 4] = [Level::Beginner, Level::Intermediate, Level::Advanced, Level::Expert];

    /// The level of a puzzle's rating.
    pub fn of_rating(rating: i64) -> Level {
        match rating {
            ..=999 => Level::Beginner,
            1_000..=1_499 => Level::Intermediate,
            1_500..=1_999 => Level::Advanced,
            _ => Level::Expert,
        }
    }
}

/// The part of a task's name before its theme.
const THEME_TASK: &str = "short_tactics_theme_";

/// The tasks of the published themes; a theme has its published spelling.
const THEME_TASKS: [&str; 20] = [
    "short_tactics_theme_advancedPawn",
    "short_tactics_theme_attraction",
    "short_tactics_theme_backRankMate",
    "short_tactics_theme_capturingDefender",
    "short_tactics_theme_defensiveMove",
    "short_tactics_theme_deflection",
    "short_tactics_theme_discoveredAttack",
    "short_tactics_theme_doubleCheck",
    "short_tactics_theme_fork",
    "short_tactics_theme_hangingPiece",
    "short_tactics_theme_mateIn1",
    "short_tactics_theme_mateIn2",
    "short_tactics_theme_pin",
    "short_tactics_theme_promotion",
    "short_tactics_theme_queensideAttack",
    "short_tactics_theme_sacrifice",
    "short_tactics_theme_skewer",
    "short_tactics_theme_trappedPiece",
    "short_tactics_theme_xRayAttack",
    "short_tactics_theme_zugzwang",
];

/// A theme of Short Tactics: one of the twenty published ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Theme(u8);

impl Theme {
    /// All of them, in alphabetical order.
    pub fn all() -> impl Iterator<Item = Theme> {
        (0..THEME_TASKS.len() as u8).map(Theme)
    }

    /// The theme of this name.
    pub fn of_name(name: &str) -> Option<Theme> {
        Theme::all().find(|theme| theme.name() == name)
    }

    /// The name of its task.
    pub(crate) fn task_name(self) -> &'static str {
        THEME_TASKS[usize::from(self.0)]
    }

    /// The name in puzzles.
    pub fn name(self) -> &'static str {
        &self.task_name()[THEME_TASK.len()..]
    }
}

/// A band of evaluations of Position Judgement, from White's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Band {
    /// Around -400 centipawns.
    Losing,
    /// Around -200.
    Disadvantage,
    /// Around 0.
    Neutral,
    /// Around 200.
    Advantage,
    /// Around 400.
    Winning,
}

impl Band {
    /// All five, ascending.
    pub const ALL: [Band; 5] = [Band::Losing, Band::Disadvantage, Band::Neutral, Band::Advantage, Band::Winning];

    /// The name in items.
    pub fn name(self) -> &'static str {
        match self {
            Band::Losing => "losing",
            Band::Disadvantage => "disadvantage",
            Band::Neutral => "neutral",
            Band::Advantage => "advantage",
            Band::Winning => "winning",
        }
    }
}

/// The rule by which the wrong options of a Semantic task are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Distractors {
    /// Any other comments.
    EasyRandom,
    /// Comments that share a keyword.
    Keyword,
    /// Comments on the same kind of piece in the same phase.
    PieceStage,
    /// The nearest by embedding.
    Embedding,
    /// The nearest by words: in place of `Embedding` where there are no embeddings. Not published.
    Lexical,
}

impl Distractors {
    /// The four published ones.
    pub const PUBLISHED: [Distractors; 4] =
        [Distractors::EasyRandom, Distractors::Keyword, Distractors::PieceStage, Distractors::Embedding];
}
