//! The fifty tasks: names, categories, and the form of their answers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A category, in the published spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Category {
    /// Rules, pieces and squares.
    Structural,
    /// Patterns of pieces.
    Motifs,
    /// The best move.
    #[serde(rename = "Short Tactics")]
    ShortTactics,
    /// What a position is worth.
    #[serde(rename = "Position Judgement")]
    PositionJudgement,
    /// Commentary.
    Semantic,
}

impl Category {
    /// All five, in the published order.
    pub const ALL: [Category; 5] = [
        Category::Structural,
        Category::Motifs,
        Category::ShortTactics,
        Category::PositionJudgement,
        Category::Semantic,
    ];

    /// The name in items.
    pub fn name(self) -> &'static str {
        match self {
            Category::Structural => "Structural",
            Category::Motifs => "Motifs",
            Category::ShortTactics => "Short Tactics",
            Category::PositionJudgement => "Position Judgement",
            Category::Semantic => "Semantic",
        }
    }
}

/// Whether an answer is one text, or a list that is compared as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerType {
    /// One text.
    Single,
    /// A list with commas.
    Multi,
}

/// What an answer consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One move (UCI).
    Move,
    /// Moves (UCI).
    Moves,
    /// Squares.
    Squares,
    /// Checking pieces: `White Queen at e5`.
    Checkers,
    /// All pieces with their squares.
    Arrangement,
    /// A FEN of six fields.
    Fen,
    /// Three squares of a line: `a1>a2>a8`.
    Lines,
    /// A piece and what it forks: `a1>b2-c3`.
    ForkLines,
    /// The squares of a battery: `a1>a2`.
    Battery,
    /// A whole number of centipawns.
    Centipawns,
    /// The letter of an option.
    Letter,
}

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
            ..=1499 => Level::Intermediate,
            ..=1999 => Level::Advanced,
            _ => Level::Expert,
        }
    }
}

/// What precedes the theme in the name of a task.
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

    /// The name in puzzles.
    pub fn name(self) -> &'static str {
        &THEME_TASKS[usize::from(self.0)][THEME_TASK.len()..]
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

/// How the wrong options of a Semantic task are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Distractors {
    /// Any other comments.
    EasyRandom,
    /// Comments that share a keyword.
    Keyword,
    /// The same kind of piece in the same phase.
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

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "names are those of the published tasks")]
pub enum Task {
    PieceArrangement,
    LegalMovePiece,
    LegalMoveAll,
    CheckDetection,
    CheckIn1,
    CaptureSquares,
    ControlSquares,
    ProtectSquares,
    StateTrackingShort,
    StateTrackingMid,
    StateTrackingLong,
    Pin,
    Fork,
    Battery,
    Skewer,
    DiscoveredCheck,
    DoubleCheck,
    Rating(Level),
    Theme(Theme),
    Judgement(Band),
    Semantic(Distractors),
}

/// The Structural tasks and the Motifs.
const PLAIN: [Task; 17] = [
    Task::PieceArrangement,
    Task::LegalMovePiece,
    Task::LegalMoveAll,
    Task::CheckDetection,
    Task::CheckIn1,
    Task::CaptureSquares,
    Task::ControlSquares,
    Task::ProtectSquares,
    Task::StateTrackingShort,
    Task::StateTrackingMid,
    Task::StateTrackingLong,
    Task::Pin,
    Task::Fork,
    Task::Battery,
    Task::Skewer,
    Task::DiscoveredCheck,
    Task::DoubleCheck,
];

impl Task {
    /// The fifty published tasks, by category.
    pub fn published() -> impl Iterator<Item = Task> {
        let semantic = Distractors::PUBLISHED.into_iter().map(Task::Semantic);
        PLAIN
            .into_iter()
            .chain(Level::ALL.into_iter().map(Task::Rating))
            .chain(Theme::all().map(Task::Theme))
            .chain(Band::ALL.into_iter().map(Task::Judgement))
            .chain(semantic)
    }

    /// All tasks: the published ones and `semantic_lexical`.
    pub fn all() -> impl Iterator<Item = Task> {
        Task::published().chain([Task::Semantic(Distractors::Lexical)])
    }

    /// The task of this name.
    pub fn of_name(name: &str) -> Option<Task> {
        match name.strip_prefix(THEME_TASK) {
            Some(theme) => Theme::of_name(theme).map(Task::Theme),
            None => Task::all().find(|task| task.name() == name),
        }
    }

    /// The name in items.
    pub fn name(self) -> &'static str {
        match self {
            Task::PieceArrangement => "structural_piece_arrangement",
            Task::LegalMovePiece => "structural_legal_move_piece",
            Task::LegalMoveAll => "structural_legal_move_all",
            Task::CheckDetection => "structural_check_detection",
            Task::CheckIn1 => "structural_check_in_1",
            Task::CaptureSquares => "structural_capture_squares",
            Task::ControlSquares => "structural_control_squares",
            Task::ProtectSquares => "structural_protect_squares",
            Task::StateTrackingShort => "structural_state_tracking_short",
            Task::StateTrackingMid => "structural_state_tracking_mid",
            Task::StateTrackingLong => "structural_state_tracking_long",
            Task::Pin => "motifs_pin",
            Task::Fork => "motifs_fork",
            Task::Battery => "motifs_battery",
            Task::Skewer => "motifs_skewer",
            Task::DiscoveredCheck => "motifs_discovered_check",
            Task::DoubleCheck => "motifs_double_check",
            Task::Rating(Level::Beginner) => "short_tactics_rating_beginner",
            Task::Rating(Level::Intermediate) => "short_tactics_rating_intermediate",
            Task::Rating(Level::Advanced) => "short_tactics_rating_advanced",
            Task::Rating(Level::Expert) => "short_tactics_rating_expert",
            Task::Theme(theme) => THEME_TASKS[usize::from(theme.0)],
            Task::Judgement(Band::Losing) => "position_judgement_losing",
            Task::Judgement(Band::Disadvantage) => "position_judgement_disadvantage",
            Task::Judgement(Band::Neutral) => "position_judgement_neutral",
            Task::Judgement(Band::Advantage) => "position_judgement_advantage",
            Task::Judgement(Band::Winning) => "position_judgement_winning",
            Task::Semantic(Distractors::EasyRandom) => "semantic_easy_random",
            Task::Semantic(Distractors::Keyword) => "semantic_keyword",
            Task::Semantic(Distractors::PieceStage) => "semantic_piece_stage",
            Task::Semantic(Distractors::Embedding) => "semantic_embedding",
            Task::Semantic(Distractors::Lexical) => "semantic_lexical",
        }
    }

    /// The category.
    pub fn category(self) -> Category {
        match self {
            Task::Rating(_) | Task::Theme(_) => Category::ShortTactics,
            Task::Judgement(_) => Category::PositionJudgement,
            Task::Semantic(_) => Category::Semantic,
            Task::Pin | Task::Fork | Task::Battery | Task::Skewer | Task::DiscoveredCheck | Task::DoubleCheck => {
                Category::Motifs
            }
            _ => Category::Structural,
        }
    }

    /// Whether an answer is one text or a list.
    pub fn answer_type(self) -> AnswerType {
        match self.form() {
            Form::Move | Form::Arrangement | Form::Fen | Form::Centipawns | Form::Letter => AnswerType::Single,
            Form::Moves | Form::Squares | Form::Checkers | Form::Lines | Form::ForkLines | Form::Battery => {
                AnswerType::Multi
            }
        }
    }

    /// What an answer consists of.
    pub fn form(self) -> Form {
        match self {
            Task::PieceArrangement => Form::Arrangement,
            Task::LegalMovePiece | Task::LegalMoveAll | Task::CheckIn1 | Task::DiscoveredCheck | Task::DoubleCheck => {
                Form::Moves
            }
            Task::CheckDetection => Form::Checkers,
            Task::CaptureSquares | Task::ControlSquares | Task::ProtectSquares => Form::Squares,
            Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong => Form::Fen,
            Task::Pin | Task::Skewer => Form::Lines,
            Task::Fork => Form::ForkLines,
            Task::Battery => Form::Battery,
            Task::Rating(_) | Task::Theme(_) => Form::Move,
            Task::Judgement(_) => Form::Centipawns,
            Task::Semantic(_) => Form::Letter,
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
