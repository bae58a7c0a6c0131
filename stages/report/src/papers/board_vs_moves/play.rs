//! Games of models, by arm, rules and opponent.

use std::collections::BTreeMap;

use cwm_contract::{Failure, GroupInput};
use cwm_matches::{End, Game, Matches, Participant, Players};
use cwm_measures::{Arm, Estimate, Resamples};
use cwm_page::{Column, TableCell, escape_controls};
use cwm_rating::Level;

use crate::papers::board_vs_moves::common::{RESAMPLES, SEED};

/// The name of the paper's rules in tables.
pub(crate) const PAPERS_RULES: &str = "the paper's";

/// The games of one arm under the same rules.
#[derive(Clone, Debug)]
pub(crate) struct ArmGames {
    pub(crate) arm: Arm,
    /// `attempts` or `mask`; empty where no model plays.
    pub(crate) legality: String,
    /// `allow` or `avoid`; empty where no model plays.
    pub(crate) repetition: String,
    /// The cells that played, over all seeds.
    pub(crate) labels: Vec<String>,
    /// Label, name and digest of each match's engine, where it had one.
    pub(crate) engines: Vec<[String; 3]>,
    /// By opponent, levels first.
    pub(crate) games_by_opponent: BTreeMap<Opponent, Vec<ArmGame>>,
}

/// The opponent of the arm.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Opponent {
    /// Stockfish at this level.
    Level(u8),
    /// Anyone else, by name.
    Other(String),
}

/// A game.
#[derive(Clone, Debug)]
pub(crate) struct ArmGame {
    /// The file and the number of its pair, by which games are resampled.
    pub(crate) pair: (usize, u64),
    pub(crate) is_white: bool,
    /// 0, 0.5 or 1.
    pub(crate) score: f64,
    pub(crate) end: End,
    pub(crate) illegal_attempts: u32,
}

/// Counts of wins, draws and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Results {
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    pub(crate) losses: u32,
}

impl Results {
    pub(crate) fn of<'a>(games: impl IntoIterator<Item = &'a ArmGame>) -> Self {
        let mut results = Results::default();
        for game in games {
            let count = match game.score {
                score if score > 0.75 => &mut results.wins,
                score if score < 0.25 => &mut results.losses,
                _ => &mut results.draws,
            };
            *count += 1;
        }
        results
    }

    pub(crate) fn at(self, rating: f64) -> Level {
        Level { rating, wins: self.wins, draws: self.draws, losses: self.losses }
    }

    pub(crate) fn games(self) -> u32 {
        self.wins + self.draws + self.losses
    }
}

impl Opponent {
    fn of(other: &Participant, game: &Game) -> Self {
        match (game.level, &other.arm) {
            (Some(level), _) => Opponent::Level(level),
            (None, Some(arm)) => {
                let arm = Arm::new(arm, other.size.as_deref().unwrap_or_default(), "");
                Opponent::Other(escape_controls(&arm.full_name()))
            }
            (None, None) => Opponent::Other(escape_controls(&other.kind)),
        }
    }

    /// Its name in tables.
    pub(crate) fn name(&self) -> String {
        match self {
            Opponent::Level(level) => format!("level {level}"),
            Opponent::Other(name) => name.clone(),
        }
    }
}

impl ArmGames {
    /// The columns of [`ArmGames::head`].
    pub(crate) fn columns() -> Vec<Column> {
        ["Rules", "Arm", "Size", "Legality", "Repetition"].map(|name| Column::text(name).naming_rows()).into()
    }

    /// The cells that name its rows.
    pub(crate) fn head(&self) -> Vec<TableCell> {
        let rules = if self.is_papers() { PAPERS_RULES } else { "ours" };
        let words = [rules.to_owned(), escape_controls(&self.arm.name), escape_controls(&self.arm.size)];
        let rules = [escape_controls(&self.legality), escape_controls(&self.repetition)];
        words
            .into_iter()
            .chain(rules)
            .map(|word| if word.is_empty() { TableCell::none() } else { TableCell::text(word) })
            .collect()
    }

    /// Returns true if it plays by the paper's rules: models sample up to five attempts at a legal move and may repeat
    /// positions.
    pub(crate) fn is_papers(&self) -> bool {
        (self.legality.as_str(), self.repetition.as_str()) == ("attempts", "allow")
    }

    /// Arm and rules, for titles.
    pub(crate) fn name(&self) -> String {
        let rules = if self.legality.is_empty() { String::new() } else { format!(", {}", self.legality) };
        escape_controls(&format!("{}{rules}", self.arm.full_name()))
    }
}

/// The mean score of games, with an interval over pairs.
pub(crate) fn score(games: &[ArmGame]) -> Option<Estimate> {
    let mut games: Vec<&ArmGame> = games.iter().collect();
    games.sort_by_key(|game| game.pair);
    let pairs: Vec<&[&ArmGame]> = games.chunk_by(|one, next| one.pair == next.pair).collect();
    let values = pairs.iter().enumerate().flat_map(|(place, pair)| pair.iter().map(move |game| (place, game.score)));
    Resamples::draw(pairs.len(), RESAMPLES, SEED).estimate(values)
}

/// The players with their sizes and seeds, then the rules: two matches that agree in these cannot be distinguished in
/// any table.
fn player_identity(players: &Players) -> Vec<Option<String>> {
    let of = |player: &Participant| {
        let name = player.arm.as_ref().unwrap_or(&player.kind).clone();
        [Some(name), player.size.clone(), player.seed.map(|seed| seed.to_string())]
    };
    let rules = [players.legality.clone(), players.repetition.clone()];
    of(&players.first).into_iter().chain(of(&players.second)).chain(rules).collect()
}

/// Reads all matches; those of one arm and size under the same rules are taken together, whatever the seed. The first player is the
/// one that is measured.
///
/// # Errors
/// A file is no file of matches, or two are of the same players with the same seeds.
pub(crate) fn read(inputs: &[GroupInput]) -> Result<Vec<ArmGames>, Failure> {
    let mut all: BTreeMap<(bool, Arm, String, String), ArmGames> = BTreeMap::new();
    let mut seen: Vec<(Vec<Option<String>>, String)> = Vec::new();
    for (file, input) in inputs.iter().enumerate() {
        let matches = Matches::open(&input.path)?;
        let label = escape_controls(&input.label.to_string());
        let players = player_identity(matches.description());
        if let Some((_, other)) = seen.iter().find(|(one, _)| *one == players) {
            let message = format!("{other} and {label} are games of the same players, with the same seeds and rules");
            let hint =
                "what else differs, such as trainings or openings, no table would show: give the report one of them";
            return Err(Failure::input(message).hint(hint));
        }
        seen.push((players, label.clone()));
        let Players { first, second, legality, repetition, engine } = matches.description().clone();
        let arm = Arm::new(first.arm.as_deref().unwrap_or(&first.kind), first.size.as_deref().unwrap_or_default(), "");
        let (legality, repetition) = (legality.unwrap_or_default(), repetition.unwrap_or_default());
        let new = ArmGames {
            arm,
            legality,
            repetition,
            labels: Vec::new(),
            engines: Vec::new(),
            games_by_opponent: BTreeMap::new(),
        };
        // Those by the paper's rules come last.
        let key = (new.is_papers(), new.arm.clone(), new.legality.clone(), new.repetition.clone());
        let played = all.entry(key).or_insert(new);
        played.engines.extend(
            engine.map(|engine| [label.clone(), escape_controls(&engine.name), escape_controls(&engine.digest)]),
        );
        played.labels.push(label);
        for game in matches {
            let game = game?;
            let against = ArmGame {
                pair: (file, game.pair),
                is_white: game.first_white,
                score: game.score,
                end: game.end,
                illegal_attempts: game.illegal_attempts,
            };
            played.games_by_opponent.entry(Opponent::of(&second, &game)).or_default().push(against);
        }
    }
    Ok(all.into_values().collect())
}
