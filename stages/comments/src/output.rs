//! Writes the outputs: the kept comments, the items about comments, and the counts.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use cwm_contract::{Context, Failure};
use cwm_questions::truth::role_name;
use cwm_questions::{Comment, Phase, write_line};
use fs_err::File;
use serde_json::{Value, json};

use crate::annotated::{self, AnnotatedGame};
use crate::by_model::{ModelAnswers, items};
use crate::clean::without_marks;
use crate::comment_filter::CommentFilter;
use crate::config::Config;
use crate::names::{Names, has_other_name};
use crate::written::{WrittenComment, side};

/// Reasons for which comments are dropped.
const REASONS: [&str; 6] = ["few_words", "no_keyword", "short", "other_name", "judged_unfit", "no_answer"];

/// The outputs under way.
pub struct CommentsOutput<'c> {
    context: &'c Context,
    filter: CommentFilter,
    drops_names: bool,
    answers: Option<ModelAnswers>,
    comments: BufWriter<File>,
    items: BufWriter<File>,
    games: u64,
    found: u64,
    /// Comments that have items for a model.
    with_items: u64,
    kept: u64,
    games_dropped: BTreeMap<&'static str, u64>,
    dropped: BTreeMap<&'static str, u64>,
}

impl<'c> CommentsOutput<'c> {
    /// Makes the files.
    ///
    /// # Errors
    ///
    /// A file cannot be made, or the keywords cannot be read.
    pub fn create(context: &'c Context, config: &Config, answers: Option<ModelAnswers>) -> Result<Self, Failure> {
        let file = |name| Ok::<_, Failure>(BufWriter::new(File::create(context.output(name)?)?));
        Ok(CommentsOutput {
            context,
            filter: CommentFilter::of(config)?,
            drops_names: config.names == "drop",
            answers,
            comments: file("comments")?,
            items: file("items")?,
            games: 0,
            found: 0,
            with_items: 0,
            kept: 0,
            games_dropped: annotated::REASONS.map(|reason| (reason, 0)).into(),
            dropped: REASONS.map(|reason| (reason, 0)).into(),
        })
    }

    /// Games that were read, dropped or not.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Counts a game that is dropped.
    pub fn drop_game(&mut self, reason: &'static str) {
        self.games += 1;
        *self.games_dropped.entry(reason).or_default() += 1;
    }

    /// Takes the comments of the next game, which people wrote.
    ///
    /// # Errors
    ///
    /// A file cannot be written, or an answer is not there.
    pub fn take_annotated(&mut self, game: &AnnotatedGame) -> Result<(), Failure> {
        self.games += 1;
        let names = Names::of(&game.white, &game.black);
        for written in &game.comments {
            let Some(keywords) = self.pass(written) else { continue };
            let by_rules = names.replaced_in(&without_marks(&written.comment));
            for item in items(self.with_items, game, written, &by_rules) {
                write_line(&mut self.items, &item)?;
            }
            let cleaned = match &self.answers {
                Some(answers) => answers.cleaned(self.with_items)?.map(str::to_owned),
                None if self.drops_names && has_other_name(&by_rules) => Err("other_name"),
                None => Ok(by_rules),
            };
            self.with_items += 1;
            match cleaned {
                Ok(cleaned) => self.keep(written, keywords, cleaned)?,
                Err(reason) => self.drop(reason),
            }
        }
        Ok(())
    }

    /// Takes the comments of the next game, which rules wrote: they are clean.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn take_written(&mut self, comments: Vec<WrittenComment>) -> Result<(), Failure> {
        self.games += 1;
        for written in comments {
            if let Some(keywords) = self.pass(&written) {
                self.keep(&written, keywords, written.comment.clone())?;
            }
        }
        Ok(())
    }

    /// The keywords of a comment, if it has what a comment must have.
    fn pass(&mut self, written: &WrittenComment) -> Option<Vec<String>> {
        self.found += 1;
        self.filter.keywords(&written.comment).map_err(|reason| self.drop(reason)).ok()
    }

    fn drop(&mut self, reason: &'static str) {
        *self.dropped.entry(reason).or_default() += 1;
    }

    fn keep(&mut self, written: &WrittenComment, keywords: Vec<String>, cleaned: String) -> Result<(), Failure> {
        if !self.filter.is_long(&cleaned) {
            self.drop("short");
            return Ok(());
        }
        let comment = Comment {
            game: self.games,
            ply: written.ply,
            move_uci: written.move_uci.clone(),
            mover: side(written.mover).to_owned(),
            piece: role_name(written.piece).to_owned(),
            move_number: written.move_number,
            phase: Phase::of_move(written.move_number),
            fen_before: written.fen_before.clone(),
            fen_after: written.fen_after.clone(),
            comment: written.comment.clone(),
            keywords,
            cleaned,
            cleaned_by: self.answers.as_ref().map_or("rules", |answers| answers.model.as_str()).to_owned(),
        };
        writeln!(self.comments, "{}", json_line(&comment)?)?;
        self.kept += 1;
        Ok(())
    }

    /// Ends the files and writes the counts.
    ///
    /// # Errors
    ///
    /// A file cannot be written, or no comment is kept.
    pub fn finish(mut self) -> Result<(), Failure> {
        let (games, found) = (self.games, self.found);
        let reasons = |dropped: &BTreeMap<&str, u64>| {
            let counts = dropped.iter().filter(|(_, count)| **count > 0);
            counts.map(|(reason, count)| format!("{reason}: {count}")).collect::<Vec<_>>().join(", ")
        };
        for (what, dropped) in [("games", &self.games_dropped), ("comments", &self.dropped)] {
            let reasons = reasons(dropped);
            if !reasons.is_empty() {
                self.context.log(format!("dropped {what}: {reasons}"));
            }
        }
        if self.kept == 0 {
            let all = [reasons(&self.games_dropped), reasons(&self.dropped)].join(" ");
            let why = if all.trim().is_empty() { String::new() } else { format!(" ({})", all.trim()) };
            let message = format!("none of {found} comments on the moves of {games} games is kept{why}");
            return Err(Failure::input(message).hint("give annotated games, or other `keywords`"));
        }
        self.comments.flush()?;
        self.items.flush()?;
        let counts: BTreeMap<&str, Value> = BTreeMap::from([
            ("stage", json!("comments")),
            ("games", json!(games)),
            ("games_dropped", json!(self.games_dropped)),
            ("comments", json!(found)),
            ("dropped", json!(self.dropped)),
            ("kept", json!(self.kept)),
        ]);
        fs_err::write(self.context.output("counts")?, format!("{}\n", json!(counts)))?;
        self.context.metric("comments", self.kept as f64);
        Ok(())
    }
}

fn json_line(comment: &Comment) -> Result<String, Failure> {
    serde_json::to_string(comment).map_err(|error| Failure::internal(format!("a comment cannot be written: {error}")))
}
