//! Rows of puzzles, in Lichess's columns.

/// The first line of a file.
pub const HEADER: &str = "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n";

/// A puzzle.
#[derive(Clone, Debug, PartialEq)]
pub struct Puzzle {
    /// The position before the mistake.
    pub fen: String,
    /// The mistake and the solution, UCI.
    pub moves: Vec<String>,
    /// Nodes after which the engine's choice of the solver's moves did not change any more.
    pub effort: f64,
    /// The themes of the solution that rules find.
    pub themes: Vec<&'static str>,
}

impl Puzzle {
    /// Its row. The id is a hash of its content; the rating is a proxy, as `GameUrl` states; it was never played.
    pub fn row(&self) -> String {
        let moves = self.moves.join(" ");
        let digest = blake3::hash(format!("{} {moves}", self.fen).as_bytes()).to_hex();
        let (id, rating) = (&digest.as_str()[..8], self.rating());
        format!("{id},{},{moves},{rating},0,100,0,{},proxy,\n", self.fen, self.themes.join(" "))
    }

    /// A proxy for how hard it is for people.
    fn rating(&self) -> i64 {
        let rating = 600.0 + 200.0 * (self.effort / 1_000.0).log2();
        rating.clamp(400.0, 2_800.0).round() as i64
    }
}
