//! The sequences whose rows are compared.

use std::collections::BTreeMap;

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure};
use cwm_encoding::{EnPassant, LABELS};
use cwm_inside::linear_probe::SQUARES;
use cwm_inside::{Model, TokenizedGame, WantedGame};
use cwm_inside_rows::{TranspositionsDescription, TranspositionsReader};

/// The ply and the phase of a row's token: rows that agree in both are alike, whatever was played.
type Stratum = (u32, Option<u8>);

/// The sequences in the order of their rows: by game, then by ply.
pub struct Members {
    /// The description of the classes in their file.
    pub made_by: TranspositionsDescription,
    /// The rows of each class, at least two.
    pub classes: Vec<Vec<u32>>,
    /// The class of each row.
    pub class: Vec<u32>,
    /// Ply and phase of each row.
    pub strata: Vec<Stratum>,
    /// The last two moves of each row's sequence.
    pub suffixes: Vec<Vec<u16>>,
    /// The games that have the rows.
    pub wanted: Vec<WantedGame>,
    /// Sequences that are dropped, being longer than the model reads, and those that are then alone in their class.
    pub dropped: u64,
}

impl Members {
    /// Reads the classes and finds their sequences among the games.
    ///
    /// # Errors
    /// An input cannot be read, they do not belong together, or a class has one sequence only.
    pub fn read(context: &Context, model: &Model) -> Result<Self, Failure> {
        let mut reader = TranspositionsReader::open(context.input("transpositions")?)?;
        let made_by = reader.description().clone();
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        // The class of each sequence, by game and ply.
        let mut by_game: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
        for row in &mut reader {
            let row = row?;
            let class = by_game.entry(row.game).or_default().insert(row.ply, row.class);
            if class.is_some() {
                let message = format!("the transpositions have the first {} plies of game {} twice", row.ply, row.game);
                return Err(Failure::input(message));
            }
            *sizes.entry(row.class).or_default() += 1;
        }
        if sizes.is_empty() {
            return Err(Failure::input("the transpositions have no class: no two sequences end in the same position")
                .hint("give `transpositions` more games or a larger `max_plies`, or set `sequences: prefixes`"));
        }
        if let Some((class, _)) = sizes.iter().find(|(_, size)| **size < 2) {
            return Err(Failure::input(format!("class {class} of the transpositions has one sequence only")));
        }
        let dataset = Dataset::open(context.input("games")?)?;
        let mut members = Members {
            made_by,
            classes: Vec::new(),
            class: Vec::new(),
            strata: Vec::new(),
            suffixes: Vec::new(),
            wanted: Vec::new(),
            dropped: 0,
        };
        let mut boards = BTreeMap::new();
        for (game, plies) in by_game {
            context.check_cancelled()?;
            members.push(&dataset, model, game, &plies, &mut boards)?;
        }
        members.drop_lone_rows();
        if members.classes.is_empty() {
            let message = "every class has a sequence that is longer than the model reads, and then fewer than two";
            return Err(Failure::input(message).hint("a smaller `max_plies` of `transpositions` helps"));
        }
        Ok(members)
    }

    /// Adds the sequences of a game: the class of each, by ply. `boards` has the board of each class that was met.
    fn push(
        &mut self,
        dataset: &Dataset,
        model: &Model,
        game: u32,
        plies: &BTreeMap<u32, u32>,
        boards: &mut BTreeMap<u32, Vec<u8>>,
    ) -> Result<(), Failure> {
        let other = |what: String| {
            Failure::input(format!("the transpositions name {what}"))
                .hint("give `alignment` the games that `transpositions` had")
        };
        let found = dataset.get(game as usize)?;
        let found = found.ok_or_else(|| other(format!("game {game}, and there are {} games", dataset.len())))?;
        let (id, tokens) = (found.row().id.to_owned(), found.row().tokens.to_vec());
        let mut reading = TokenizedGame::of(model.task(), &tokens)
            .map_err(|wrong| Failure::input(format!("input `games`, game {game} ({id}): {wrong}")))?;
        let mut labels = vec![0; tokens.len() * LABELS];
        let labelled = dataset.labels_into(game as usize, EnPassant::Always, &mut labels);
        labelled.map_err(|error| error.failure("games"))?;
        let mut kept = Vec::new();
        for (&ply, &class) in plies {
            let Some(token) = reading.after.iter().position(|&after| after == ply) else {
                return Err(other(format!("{ply} plies of game {game} ({id}), which has {}", tokens.len() - 1)));
            };
            let board = &labels[ply as usize * LABELS..][..SQUARES];
            if *boards.entry(class).or_insert_with(|| board.to_vec()) != board {
                let what = format!("{ply} plies of game {game} ({id})");
                return Err(other(format!("{what}, which end on another board than others of class {class}")));
            }
            if model.longest().is_some_and(|longest| token >= longest) {
                self.dropped += 1;
                continue;
            }
            kept.push(token);
            self.class.push(class);
            self.strata.push((ply, reading.phases[token].map(|phase| phase.number())));
            // The token that begins a game comes before the first move.
            let last = ply as usize;
            self.suffixes.push(tokens[(last.max(2) - 1)..=last].to_vec());
        }
        if let Some(&last) = kept.last() {
            // Nothing after the last row that is kept affects it.
            reading.truncate(last + 1);
            self.wanted.push(WantedGame { id, reading, tokens: kept });
        }
        Ok(())
    }

    /// Drops rows that are alone in their class, and lists the rows of each class.
    fn drop_lone_rows(&mut self) {
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        self.class.iter().for_each(|class| *sizes.entry(*class).or_default() += 1);
        let kept: Vec<bool> = self.class.iter().map(|class| sizes[class] > 1).collect();
        self.dropped += kept.iter().filter(|kept| !**kept).count() as u64;
        let mut each = kept.iter();
        let mut next = || each.next().copied().unwrap_or_default();
        self.wanted.iter_mut().for_each(|game| game.tokens.retain(|_| next()));
        self.wanted.retain(|game| !game.tokens.is_empty());
        retain(&mut self.class, &kept);
        retain(&mut self.strata, &kept);
        retain(&mut self.suffixes, &kept);
        let mut by_class: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (row, &class) in (0..).zip(&self.class) {
            by_class.entry(class).or_default().push(row);
        }
        self.classes = by_class.into_values().collect();
    }
}

fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut each = kept.iter();
    items.retain(|_| each.next().copied().unwrap_or_default());
}
