//! The kinds of question.

/// A kind of question, described by its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactKind {
    /// Yes if a king is in check.
    Check,
    /// Yes if a move is legal.
    Legal,
    /// Yes if one kind of piece can take another.
    Capture,
    /// The material of one side less that of the other.
    Material,
    /// The number of legal moves of a piece.
    Mobility,
    /// The square of the only piece that can take another.
    OnlyCapture,
    /// The side that is ahead by more than 300 centipawns of material.
    LargeAdvantage,
    /// Yes if less than 120 centipawns of material are between the sides.
    Balanced,
    /// The win probability of the side to move, in percent.
    WinProbability,
    /// The better one of two squares for a piece.
    WhichOfTwo,
}

impl FactKind {
    /// All ten.
    pub const ALL: [FactKind; 10] = [
        FactKind::Check,
        FactKind::Legal,
        FactKind::Capture,
        FactKind::Material,
        FactKind::Mobility,
        FactKind::OnlyCapture,
        FactKind::LargeAdvantage,
        FactKind::Balanced,
        FactKind::WinProbability,
        FactKind::WhichOfTwo,
    ];

    /// The kinds that are drawn from in the published data, each with its weight.
    pub const PUBLISHED: [(FactKind, usize); 6] = [
        (FactKind::Check, 2),
        (FactKind::Legal, 5),
        (FactKind::Capture, 5),
        (FactKind::Material, 5),
        (FactKind::Mobility, 5),
        (FactKind::OnlyCapture, 5),
    ];

    /// The name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            FactKind::Check => "check",
            FactKind::Legal => "legal",
            FactKind::Capture => "capture",
            FactKind::Material => "material",
            FactKind::Mobility => "mobility",
            FactKind::OnlyCapture => "only_capture",
            FactKind::LargeAdvantage => "large_advantage",
            FactKind::Balanced => "balanced",
            FactKind::WinProbability => "win_probability",
            FactKind::WhichOfTwo => "which_of_two",
        }
    }

    /// The kind of this name.
    pub fn of_name(name: &str) -> Option<FactKind> {
        FactKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns true if two questions are the same. Of two squares that are compared, either may come first.
    pub(super) fn repeats(self, question: &str, other: &str) -> bool {
        question == other || (self == FactKind::WhichOfTwo && sorted_words(question) == sorted_words(other))
    }

    /// The most questions of it on one board.
    pub(super) fn most(self) -> usize {
        match self {
            FactKind::Legal => 3,
            FactKind::Capture | FactKind::Mobility | FactKind::OnlyCapture | FactKind::WhichOfTwo => 2,
            _ => 1,
        }
    }
}

fn sorted_words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split([' ', '?']).collect();
    words.sort_unstable();
    words
}
