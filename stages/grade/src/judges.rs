//! Judges answers to an item: by its key, by the rules of a graded item, or by the form of a judge's answer.

use cwm_answers::Answer;
use cwm_contract::Failure;
use cwm_questions::{AnswerType, Item, Judge, Judgement, Length, PublishedVerdict};
use cwm_reasoning::{
    AnswerVerdict, ClaimRule, JudgeReader, JudgeScores, JudgeTask, MoveMeasures, ReadAnswer, ReasoningTask,
    RewardOptions, VerifiedAnswer, Verifier,
};

/// A judge of answers to an item.
pub enum ItemJudge<'i> {
    /// Judges answers to an item of ChessQA.
    ByKey(Judge<'i>),
    /// Judges answers to a graded item.
    ByRules(Box<Verifier>),
    /// Reads answers of a judge to an item about another answer.
    Reader(Box<JudgeReader>),
}

/// The rules by which answers to graded items are judged.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The rules of their rewards.
    pub reward: RewardOptions,
    /// The rule by which a claim is true; none where claims are not counted.
    pub claims: Option<ClaimRule>,
}

/// The result of judging an answer, beside its judgement.
#[derive(Clone, Debug, PartialEq)]
pub enum GradedResult {
    /// Nothing more, for an item of ChessQA.
    ByKey,
    /// The result for a graded item.
    ByRules(Box<GradedItem>),
    /// The scores of a judge; none if they cannot be read.
    JudgeScores(Option<JudgeScores>),
}

impl GradedResult {
    /// Returns the result for an answer to a graded item; none of others.
    pub fn graded_item(&self) -> Option<&GradedItem> {
        if let GradedResult::ByRules(graded_item) = self { Some(graded_item) } else { None }
    }

    /// The answer of a judge; none of others, and where it cannot be read.
    pub fn judge_scores(&self) -> Option<JudgeScores> {
        if let GradedResult::JudgeScores(scores) = self { *scores } else { None }
    }
}

/// The result for an answer to a graded item.
#[derive(Clone, Debug, PartialEq)]
pub struct GradedItem {
    /// The answer that was read, and its reward.
    pub judged: VerifiedAnswer,
    /// The measures of the answered move.
    pub measures: MoveMeasures,
    /// Its claims; none where they are not counted.
    pub claims: Option<ClaimCounts>,
}

/// The claims of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimCounts {
    /// Claims about moves, and true ones.
    pub moves: [u64; 2],
    /// Claims about pieces, and true ones.
    pub pieces: [u64; 2],
    /// True if the answered move is claimed; for a readable answer where any move can be answered.
    pub grounded: Option<bool>,
    /// True if it is the last claim of a move.
    pub last: Option<bool>,
}

impl<'i> ItemJudge<'i> {
    /// A judge of answers to `item`.
    ///
    /// # Errors
    /// The item's input, its metadata or its key is not what its task needs.
    pub fn new(item: &'i Item) -> Result<Self, Failure> {
        Ok(match item.answer_type {
            AnswerType::Graded if JudgeTask::of_name(&item.task_type).is_some() => {
                ItemJudge::Reader(Box::new(JudgeReader::new(item)?))
            }
            AnswerType::Graded => ItemJudge::ByRules(Box::new(Verifier::new(item)?)),
            AnswerType::Single | AnswerType::Multi => ItemJudge::ByKey(Judge::new(item)?),
        })
    }

    /// Judges an answer, of at most `max_tokens` where that is known.
    pub fn judge(&self, answer: &Answer, max_tokens: Option<u64>, options: &Options) -> (Judgement, GradedResult) {
        let response = answer.response.as_deref().unwrap_or_default();
        match self {
            ItemJudge::ByKey(judge) => {
                let length = Length { completion_tokens: answer.completion_tokens, max_tokens };
                (judge.judge(response, length), GradedResult::ByKey)
            }
            ItemJudge::ByRules(verifier) => {
                let judged = verifier.judge(response, &options.reward);
                let measures = verifier.measures(&judged);
                let claims = options.claims.map(|rule| claims(verifier, &answer.whole_text(), rule, &judged));
                (judgement(&judged), GradedResult::ByRules(Box::new(GradedItem { judged, measures, claims })))
            }
            ItemJudge::Reader(reader) => {
                let scores = reader.read(response);
                (judgement_of_scores(scores), GradedResult::JudgeScores(scores))
            }
        }
    }

    /// The accuracy of guessing among options, candidates or legal moves; 0 where there is nothing to guess among.
    pub fn chance(&self) -> f64 {
        match self {
            ItemJudge::ByKey(judge) => judge.chance(),
            ItemJudge::ByRules(verifier) => verifier.chance(),
            ItemJudge::Reader(_) => 0.0,
        }
    }
}

fn claims(verifier: &Verifier, text: &str, rule: ClaimRule, judged: &VerifiedAnswer) -> ClaimCounts {
    let claims = verifier.claims(text, rule);
    let read = judged.read.as_ref().filter(|_| verifier.task() == ReasoningTask::PredictMove);
    ClaimCounts {
        moves: [claims.moves.len(), claims.true_moves()].map(|count| count as u64),
        pieces: [claims.pieces.len(), claims.true_pieces()].map(|count| count as u64),
        grounded: claims.grounded(read),
        last: claims.last(read),
    }
}

/// The judgement of an answer to a graded item: it is correct if its reward is 1.
fn judgement(judged: &VerifiedAnswer) -> Judgement {
    let extracted = judged.read.as_ref().map(|read| match read {
        ReadAnswer::Move(uci) => uci.clone(),
        ReadAnswer::Moves(moves) => moves.join(", "),
    });
    let is_correct = judged.reward == 1.0;
    let verdict = match judged.verdict {
        _ if is_correct => PublishedVerdict::Correct,
        AnswerVerdict::Unreadable => PublishedVerdict::FormatError,
        _ => PublishedVerdict::WrongAnswer,
    };
    Judgement { sound: extracted.as_ref().map(|_| is_correct), extracted, verdict, fault: None }
}

/// The judgement of a judge's answer: it is correct if it can be read.
fn judgement_of_scores(scores: Option<JudgeScores>) -> Judgement {
    Judgement {
        extracted: scores.map(|scores| scores.to_string()),
        verdict: if scores.is_some() { PublishedVerdict::Correct } else { PublishedVerdict::FormatError },
        sound: scores.map(|_| true),
        fault: None,
    }
}
