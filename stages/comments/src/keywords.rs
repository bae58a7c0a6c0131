//! The phrases that a kept comment contains one of.

use std::collections::HashSet;

use cwm_contract::Failure;

use crate::config::Config;

/// The built-in phrases, by subject: evaluation, tactics, strategy, pawns, the opening, the endgame, the result.
const OURS: &str = "\
advantage; decisive advantage; slight advantage; clear advantage; edge; better; worse; slightly better; slightly worse; equal;
equality; balanced; unclear; winning; winning position; losing; lost position; compensation; initiative; material; evaluation;
mistake; blunder; inaccuracy; error; accurate; imprecise; best move; only move; strong move; quiet move;
attack; attacking; attacks; counterattack; counterplay; defence; defense; defends; threat; threatens; threatening; combination; tactic; tactical;
check; checks; checkmate; mate; mating attack; perpetual check; stalemate; fork; forks; forking; pin; pins; pinned; unpins;
skewer; skewers; double attack; discovered attack; discovered check; double check; deflection; decoy; interference; overloaded;
zwischenzug; intermezzo; trapped; hanging; en prise; undefended; unprotected; sacrifice; sacrifices; exchange sacrifice; exchange; exchanges; trade; trades;
capture; captures; recapture; recaptures; takes; wins a piece; wins a pawn; wins material; x ray; smothered mate; back rank;
plan; strategy; strategic; position; positional; structure; outpost; weak square; weak squares; weakness; weaknesses;
open file; half open file; seventh rank; long diagonal; battery; centre; center; central; space; tempo; tempi; prophylaxis; blockade;
mobility; activity; active; passive; coordination; bishop pair; good bishop; bad bishop; opposite coloured bishops; opposite colored bishops;
king safety; kingside; queenside; castle; castles; castled; castling; fianchetto;
passed pawn; passed pawns; isolated pawn; doubled pawn; doubled pawns; backward pawn; hanging pawns; pawn chain; pawn break; pawn storm;
pawn structure; pawn majority; minority attack; promotion; promotes; queening; underpromotion; en passant;
development; develops; undeveloped; theory; novelty; gambit; opening; variation; main line; transposes;
zugzwang; fortress; opposition; endgame; ending; draw; drawn; drawish; repetition; resigns; time trouble; time pressure";

/// Phrases in the order in which they are looked for: longer ones first.
pub struct Keywords(Vec<Phrase>);

struct Phrase {
    text: String,
    /// Its words, each between spaces.
    words: String,
}

impl Keywords {
    /// The phrases of the parameters' file, or the built-in ones.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has no phrase.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        let Some(file) = &config.keywords else { return Ok(Self::new(OURS.split([';', '\n']))) };
        let text = fs_err::read_to_string(&file.0)?;
        let keywords = Self::new(text.lines().filter(|line| !line.trim_start().starts_with('#')));
        match keywords.0.is_empty() {
            true => Err(Failure::input(format!("{} has no phrase", file.0.display())).hint("write one a line")),
            false => Ok(keywords),
        }
    }

    fn new<'t>(phrases: impl Iterator<Item = &'t str>) -> Self {
        let mut seen = HashSet::new();
        let phrases = phrases.map(str::trim).map(|text| Phrase { text: text.to_owned(), words: words(text) });
        let mut phrases: Vec<_> =
            phrases.filter(|phrase| phrase.words != " " && seen.insert(phrase.words.clone())).collect();
        phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.text.chars().count()));
        Keywords(phrases)
    }

    /// The phrases that `comment` contains as whole words, longest first.
    pub fn found_in(&self, comment: &str) -> Vec<String> {
        let words = words(comment);
        self.0.iter().filter(|phrase| words.contains(&phrase.words)).map(|phrase| phrase.text.clone()).collect()
    }
}

/// The text in lower case with one space in place of all that is neither letter nor digit, and at both ends.
fn words(text: &str) -> String {
    let mut words = String::from(" ");
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            words.push(c);
        } else if !words.ends_with(' ') {
            words.push(' ');
        }
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}
