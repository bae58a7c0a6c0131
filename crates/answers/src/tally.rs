//! Sums over grades.

use crate::GradesDescription;
use crate::row::row;

row! {
    /// Sums over the answers of a run: overall, in a category or in a task.
    Tally, "a tallies", "cwm.grades", GradesDescription {
        /// Full name of the run.
        run: String,
        /// The category; none overall.
        category: Option<String>,
        /// The task; none overall and of a category.
        task: Option<String>,
        /// Items that were put to the player.
        items: u64,
        /// Answers of the verdict `correct`.
        correct: u64,
        /// Their share.
        accuracy: f64,
        /// The lower end of its 95 % interval.
        low: f64,
        /// The upper end.
        high: f64,
        /// Sound answers.
        sound: u64,
        /// Answers of which it is not known whether they are sound: they cannot be read, or the task is unknown.
        unread: u64,
        /// Sound answers that are not correct: the price of form.
        format_cost: u64,
        /// Correct answers that are not sound: the price of the published key.
        key_cost: u64,
        /// Answers that are as long as allowed.
        max_token_reached: u64,
        /// Answers without a final answer.
        format_error: u64,
        /// Other wrong answers, of items with one answer.
        wrong_answer: u64,
        /// Lists with false entries, and no entry missing.
        multi_extra_items: u64,
        /// Lists with missing entries, and no false one.
        multi_missing_items: u64,
        /// Other wrong lists.
        multi_false_items: u64,
        /// Wrong moves that are not legal.
        illegal_move: u64,
        /// Wrong answers that are no move.
        not_a_move: u64,
        /// Wrong moves that are legal.
        legal_but_wrong: u64,
        /// Wrong answers that there is no move.
        says_none: u64,
        /// Answers with a number of completion tokens.
        with_tokens: u64,
        /// Sum of the tokens of prompts; none if no answer has it. So are the sums below.
        prompt_tokens: Option<u64>,
        /// Sum of the tokens of completions.
        completion_tokens: Option<u64>,
        /// Sum of the tokens of reasoning.
        reasoning_tokens: Option<u64>,
        /// Sum of all tokens.
        total_tokens: Option<u64>,
        /// Answers whose cost is known.
        with_cost: u64,
        /// Sum of dollars.
        cost: Option<f64>,
    }
}

row! {
    /// Two runs on the items that were put to both.
    PairTally, "a tallies", "cwm.grades", GradesDescription {
        /// Full name of the one run.
        run: String,
        /// Full name of the other, later in order.
        other: String,
        /// Items that were put to both.
        items: u64,
        /// Items on which both are right or both wrong.
        agreement: u64,
        /// Items on which both are right.
        both_correct: u64,
        /// Accuracy of the one less that of the other.
        difference: f64,
        /// The lower end of its 95 % interval.
        low: f64,
        /// The upper end.
        high: f64,
    }
}

row! {
    /// The items of a task.
    ItemCount, "a tallies", "cwm.grades", GradesDescription {
        /// The task.
        task: String,
        /// Its category.
        category: String,
        /// Number of items.
        items: u64,
        /// Number of different inputs.
        positions: u64,
        /// The accuracy that chance has: of guessing among options or legal moves, otherwise 0.
        chance: f64,
    }
}

row! {
    /// A measure of a run's answers to the graded items of a task.
    Measure, "a tallies", "cwm.grades", GradesDescription {
        /// Full name of the run.
        run: String,
        /// The task.
        task: String,
        /// The name of the measure; `docs/formats.md` lists them.
        measure: String,
        /// The number of answers, or of claims, that the mean or the share is of.
        n: u64,
        /// The value; shares are from 0 to 1.
        value: f64,
        /// The lower end of its 95 % interval; none where drawing items anew gives none.
        low: Option<f64>,
        /// The upper end.
        high: Option<f64>,
    }
}
