//! The fifty tasks: names, categories, and the form of their answers.

use std::fmt;

use crate::category::Category;
use crate::form::{AnswerType, Form};
use crate::group::{Band, Distractors, Level, Theme};

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
        Task::all().find(|task| task.name() == name)
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
            Task::Theme(theme) => theme.task_name(),
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

    /// The type of an answer: one text or a list.
    pub fn answer_type(self) -> AnswerType {
        match self.form() {
            Form::Move | Form::Arrangement | Form::Fen | Form::Centipawns | Form::Letter => AnswerType::Single,
            Form::Moves | Form::Squares | Form::Checkers | Form::Lines | Form::ForkLines | Form::Battery => {
                AnswerType::Multi
            }
        }
    }

    /// The form of an answer.
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
