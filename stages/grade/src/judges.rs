//! What judges answers to an item: its key, or the rules of a graded item.

use cwm_answers::Answer;
use cwm_contract::Failure;
use cwm_questions::{AnswerType, Item, Judge, Judgement, Length, MoveFault, PublishedVerdict};
use cwm_reasoning::{
    AnswerVerdict, ClaimRule, Judged, MoveMeasures, ReadAnswer, ReasoningTask, RewardOptions, Verifier,
};

/// What judges answers to an item.
pub enum ItemJudge<'i> {
    /// To an item of ChessQA.
    ByKey(Judge<'i>),
    /// To a graded item.
    ByRules(&'i Item, Box<Verifier>),
}

/// How answers to graded items are judged.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How they are rewarded.
    pub reward: RewardOptions,
    /// When a claim is true; none where claims are not counted.
    pub claims: Option<ClaimRule>,
}

/// What an answer is.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerJudgement {
    /// To an item of ChessQA.
    ByKey(Judgement),
    /// To a graded item.
    ByRules(Box<RuledAnswer>),
}

/// What an answer to a graded item is.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledAnswer {
    /// What was read, and its reward.
    pub judged: Judged,
    /// What the answered move is worth.
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
    /// Of a readable answer where any move can be answered: whether its move is claimed.
    pub grounded: Option<bool>,
    /// Whether it is claimed last.
    pub last: Option<bool>,
}

impl<'i> ItemJudge<'i> {
    /// A judge of answers to `item`.
    ///
    /// # Errors
    /// The item's input, its metadata or its key is not what its task needs.
    pub fn new(item: &'i Item) -> Result<Self, Failure> {
        Ok(match item.answer_type {
            AnswerType::Graded => ItemJudge::ByRules(item, Box::new(Verifier::new(item)?)),
            AnswerType::Single | AnswerType::Multi => ItemJudge::ByKey(Judge::new(item)?),
        })
    }

    /// Judges an answer, of at most `max_tokens` where that is known.
    pub fn judge(&self, answer: &Answer, max_tokens: Option<u64>, options: &Options) -> AnswerJudgement {
        let response = answer.response.as_deref().unwrap_or_default();
        match self {
            ItemJudge::ByKey(judge) => {
                let length = Length { completion_tokens: answer.completion_tokens, max_tokens };
                AnswerJudgement::ByKey(judge.judge(response, length))
            }
            ItemJudge::ByRules(_, verifier) => {
                let judged = verifier.judge(response, &options.reward);
                let measures = verifier.measures(&judged);
                let claims = options.claims.map(|rule| claims(verifier, &answer.whole_text(), rule, &judged));
                AnswerJudgement::ByRules(Box::new(RuledAnswer { judged, measures, claims }))
            }
        }
    }

    /// The accuracy that chance has: of guessing among options, candidates or legal moves; 0 where there is nothing to guess among.
    pub fn chance(&self) -> f64 {
        match self {
            ItemJudge::ByKey(judge) => judge.chance(),
            ItemJudge::ByRules(item, verifier) => match (verifier.task(), verifier.values()) {
                (ReasoningTask::PredictMove, Some(values)) => {
                    let best = values.iter().filter(|(_, win)| *win == values.best().1).count();
                    best as f64 / values.len() as f64
                }
                _ => {
                    let candidates = item.metadata.get("candidates").and_then(|candidates| candidates.as_array());
                    candidates.map_or(0.0, |candidates| 1.0 / candidates.len() as f64)
                }
            },
        }
    }
}

fn claims(verifier: &Verifier, text: &str, rule: ClaimRule, judged: &Judged) -> ClaimCounts {
    let claims = verifier.claims(text, rule);
    let read = judged.read.as_ref().filter(|_| verifier.task() == ReasoningTask::PredictMove);
    ClaimCounts {
        moves: [claims.moves.len(), claims.true_moves()].map(|count| count as u64),
        pieces: [claims.pieces.len(), claims.true_pieces()].map(|count| count as u64),
        grounded: claims.grounded(read),
        last: claims.last(read),
    }
}

impl AnswerJudgement {
    /// The text of the answer; none if none is found.
    pub fn extracted(&self) -> Option<String> {
        match self {
            AnswerJudgement::ByKey(judgement) => judgement.extracted.clone(),
            AnswerJudgement::ByRules(ruled) => ruled.judged.read.as_ref().map(|read| match read {
                ReadAnswer::Move(uci) => uci.clone(),
                ReadAnswer::Moves(moves) => moves.join(", "),
            }),
        }
    }

    /// The name of the verdict.
    pub fn verdict(&self) -> &'static str {
        match self {
            AnswerJudgement::ByKey(judgement) => judgement.verdict.name(),
            AnswerJudgement::ByRules(ruled) => ruled.judged.verdict.name(),
        }
    }

    /// The verdict as those of ChessQA count it.
    pub fn published(&self) -> PublishedVerdict {
        match self {
            AnswerJudgement::ByKey(judgement) => judgement.verdict,
            AnswerJudgement::ByRules(ruled) if ruled.judged.reward == 1.0 => PublishedVerdict::Correct,
            AnswerJudgement::ByRules(ruled) if ruled.judged.verdict == AnswerVerdict::Unreadable => {
                PublishedVerdict::FormatError
            }
            AnswerJudgement::ByRules(_) => PublishedVerdict::WrongAnswer,
        }
    }

    /// Whether the answer is correct: its verdict is, or its reward is 1.
    pub fn is_correct(&self) -> bool {
        self.published() == PublishedVerdict::Correct
    }

    /// Whether a chess player is right who follows the prompt; none if the answer cannot be read.
    pub fn sound(&self) -> Option<bool> {
        match self {
            AnswerJudgement::ByKey(judgement) => judgement.sound,
            AnswerJudgement::ByRules(ruled) => ruled.judged.read.is_some().then(|| self.is_correct()),
        }
    }

    /// Why a move is wrong.
    pub fn fault(&self) -> Option<MoveFault> {
        match self {
            AnswerJudgement::ByKey(judgement) => judgement.fault,
            AnswerJudgement::ByRules(_) => None,
        }
    }

    /// What an answer to a graded item is.
    pub fn ruled(&self) -> Option<&RuledAnswer> {
        match self {
            AnswerJudgement::ByKey(_) => None,
            AnswerJudgement::ByRules(ruled) => Some(ruled),
        }
    }
}
