//! Cleaning and judging of comments by a model: the items for it, and the results of its answers.
//!
//! Two items of each comment, so that one run of `answer` is enough: the comment without names and marks, and whether it is worth
//! keeping.

use std::collections::HashMap;
use std::path::Path;

use cwm_answers::AnswersReader;
use cwm_contract::Failure;
use cwm_questions::{AnswerType, Item, Metadata, extract};

use crate::annotated::AnnotatedGame;
use crate::written::WrittenComment;

/// The answer of a model in place of a comment that it cannot clean, and on one that is not worth keeping.
const DROP: &str = "DROP";

/// The answer of a model on a comment that is worth keeping.
const KEEP: &str = "KEEP";

/// The two items about the comment numbered `number` of those that a model gets.
pub fn items(number: u64, game: &AnnotatedGame, written: &WrittenComment, cleaned: &str) -> [Item; 2] {
    let player = |name: &str| if name.is_empty() { "unknown".to_owned() } else { name.to_owned() };
    let clean = format!(
        "A chess player wrote a comment on the move {move_uci} in the position {fen}.\n\
         White: {white}. Black: {black}. Comment by: {annotator}.\n\
         Comment: {comment}\n\
         Copy the comment with these changes alone. Write White and Black in place of the players' names. If a player wrote it, write that \
         side in place of `I`, `me` and `my`. Leave out signs of pieces, annotation glyphs such as $1, commands such as [%clk 0:01:00], and \
         the dots of move numbers. If the comment names anybody else, answer {DROP}.\n\
         End with one line that has exactly this form:\n\
         FINAL ANSWER: <the comment>\n\
         For example: FORMAT_EXAMPLE_PLACEHOLDER",
        move_uci = written.move_uci,
        fen = written.fen_before,
        white = player(&game.white),
        black = player(&game.black),
        annotator = player(&game.annotator),
        comment = written.comment,
    );
    let judge = format!(
        "A chess player wrote this comment on a move: {cleaned}\n\
         Is it about the move or the position, so that somebody who sees the board can see whether it fits? A proverb, a greeting, or a \
         remark on the event is not. Answer {KEEP} or {DROP}.\n\
         End with one line that has exactly this form:\n\
         FINAL ANSWER: <answer>\n\
         For example: FORMAT_EXAMPLE_PLACEHOLDER",
    );
    let item = |step: Step, question, examples: [&str; 2]| Item {
        task_id: step.task_id(number),
        task_type: step.task_type().to_owned(),
        task_category: "Commentary".to_owned(),
        input: written.fen_before.clone(),
        question,
        format_examples: examples.map(str::to_owned).to_vec(),
        correct_answer: String::new(),
        answer_type: AnswerType::Single,
        metadata: Metadata::default(),
    };
    [
        item(Step::Clean, clean, ["White attacks the pawn on e5.", "A check that Black must answer."]),
        item(Step::Judge, judge, [KEEP, DROP]),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Clean,
    Judge,
}

impl Step {
    fn task_type(self) -> &'static str {
        match self {
            Step::Clean => "comment_clean",
            Step::Judge => "comment_judge",
        }
    }

    fn task_id(self, number: u64) -> String {
        format!("{}_{number:04}", self.task_type())
    }
}

/// A model's answers to the items.
pub struct ModelAnswers {
    /// The model's name.
    pub model: String,
    /// By `task_id`; none where no answer can be read.
    answers: HashMap<String, Option<String>>,
}

impl ModelAnswers {
    /// Reads the answers at `path`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or does not name who answered.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let reader = AnswersReader::open(path)?;
        let run = reader.run().ok_or_else(|| {
            Failure::input(format!("{} does not name the model that answered", path.display()))
                .hint("the metadata `cwm.run` of the file have `name`")
        })?;
        let model = run.name.clone();
        let mut answers = HashMap::new();
        for answer in reader {
            let answer = answer?;
            let text = answer.response.as_deref().and_then(extract);
            answers.insert(answer.task_id, text);
        }
        Ok(ModelAnswers { model, answers })
    }

    /// The cleaned comment numbered `number`.
    ///
    /// # Errors
    ///
    /// The answers are none to these items; or, inside, the name of the reason for which the comment is dropped.
    pub fn cleaned(&self, number: u64) -> Result<Result<&str, &'static str>, Failure> {
        let (cleaned, judged) = (self.answer(Step::Clean, number)?, self.answer(Step::Judge, number)?);
        Ok(match (cleaned, judged) {
            (None | Some(""), _) | (_, None) => Err("no_answer"),
            (_, Some(word)) if !word.eq_ignore_ascii_case(KEEP) => Err("judged_unfit"),
            (Some(text), _) if text.eq_ignore_ascii_case(DROP) => Err("other_name"),
            (Some(text), _) => Ok(text),
        })
    }

    fn answer(&self, step: Step, number: u64) -> Result<Option<&str>, Failure> {
        let task_id = step.task_id(number);
        let answer = self.answers.get(&task_id).ok_or_else(|| {
            Failure::input(format!("the answers have none to {task_id}"))
                .hint("give the answers to the output `items` of this stage with the same games and parameters")
        })?;
        Ok(answer.as_deref())
    }
}
