//! The answers of a model to questions whose right answers are known.

use crate::likelihood::{likeliest, likeliest_of, ln_likelihood, ln_likelihoods_among};
use crate::read::ReadSequences;
use crate::{Player, Question};

/// A model's answers to a question, forced and free.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerAnswer {
    /// -ln of the probability of the right answer: the sum over its tokens.
    pub loss: f64,
    /// Number of tokens of the right answer.
    pub tokens: usize,
    /// The likeliest token at each place, the right ones before it being read; in words.
    pub forced: String,
    /// The likeliest token at each place, its own before it being read, up to the end of the answer; in words.
    pub free: String,
    /// The likeliest of the legal moves, and -ln of the probability of the right one among them; of forms in which one token is
    /// the answer.
    pub among_legal: Option<(u16, f64)>,
}

impl Player {
    /// Answers some questions, as one batch.
    pub fn answer(&self, questions: &[&Question]) -> Vec<PlayerAnswer> {
        let sequences: Vec<Vec<u16>> = questions.iter().map(|question| question.forced()).collect();
        let last: Vec<usize> = questions.iter().map(|question| question.right.len()).collect();
        let (read, logits) = self.read_batch(sequences, &last);
        let forced: Vec<Vec<u16>> = logits.iter().map(|rows| rows.iter().map(|row| likeliest(row)).collect()).collect();
        let free = self.free(questions, &forced, &read);
        let answers = questions.iter().zip(&logits).zip(forced.iter().zip(&free));
        answers.map(|((question, rows), (forced, free))| self.answer_of(question, rows, forced, free)).collect()
    }

    fn answer_of(&self, question: &Question, rows: &[Vec<f32>], forced: &[u16], free: &[u16]) -> PlayerAnswer {
        let losses = rows.iter().zip(&question.right).map(|(row, &token)| -ln_likelihood(row, token));
        let among_legal = self.form().end().is_none().then(|| {
            let of_right = question.legal.iter().position(|&action| action == question.right[0]);
            let likelihoods = ln_likelihoods_among(&rows[0], &question.legal);
            let loss = of_right.map_or(f64::INFINITY, |place| -likelihoods[place]);
            (likeliest_of(&rows[0], &question.legal), loss)
        });
        let words = |tokens: &[u16]| self.form().text(tokens);
        PlayerAnswer { loss: losses.sum(), tokens: rows.len(), forced: words(forced), free: words(free), among_legal }
    }

    /// The free answers, where `read` are the questions with the right answers. Up to its first wrong token a forced answer is
    /// free.
    fn free(&self, questions: &[&Question], forced: &[Vec<u16>], read: &ReadSequences<'_>) -> Vec<Vec<u16>> {
        let right = |(question, forced): (&&Question, &Vec<u16>)| {
            let wrong = forced.iter().zip(&question.right).position(|(own, right)| own != right);
            wrong.unwrap_or(forced.len() - 1)
        };
        let right: Vec<usize> = questions.iter().zip(forced).map(right).collect();
        let mut free: Vec<Vec<u16>> =
            forced.iter().zip(&right).map(|(forced, &right)| forced[..=right].to_vec()).collect();
        loop {
            let open: Vec<usize> = (0..free.len()).filter(|&place| self.is_open(&free[place])).collect();
            if open.is_empty() {
                return free;
            }
            let after: Vec<(usize, usize)> =
                open.iter().map(|&place| (place, questions[place].tokens.len() + right[place])).collect();
            let own: Vec<Vec<u16>> = open.iter().map(|&place| free[place][right[place]..].to_vec()).collect();
            for (place, rows) in open.iter().zip(read.continued(&after, &own)) {
                free[*place].extend(rows.last().map(|row| likeliest(row)));
            }
        }
    }

    /// Returns true if an answer that begins so goes on.
    pub(crate) fn is_open(&self, answer: &[u16]) -> bool {
        match self.form().end() {
            None => answer.is_empty(),
            Some((end, most)) => answer.last() != Some(&end) && answer.len() < most,
        }
    }
}

impl Question {
    /// The tokens that are read for a forced answer: the question and the right answer but for its last token.
    fn forced(&self) -> Vec<u16> {
        let read = &self.right[..self.right.len() - 1];
        [self.tokens.as_slice(), read].concat()
    }
}
