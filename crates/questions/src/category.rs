//! The five categories of tasks.

/// A category, in the published spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// Rules, pieces and squares.
    Structural,
    /// Patterns of pieces.
    Motifs,
    /// The best move.
    ShortTactics,
    /// The evaluation of a position.
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
