//! Scores of a model's prediction after each word of a game.

use cwm_inside_rows::Legality;
use cwm_policy::inputs::words::VOCABULARY;

use crate::games::Game;

/// The likeliest word: of equally likely ones the first.
pub fn likeliest(logits: &[f32]) -> u16 {
    let best = |best: usize, word: usize| if logits[word] > logits[best] { word } else { best };
    (0..logits.len()).fold(0, best) as u16
}

/// -ln of the probability of `word`, in nats, computed in f64.
pub fn loss(logits: &[f32], word: u16) -> f64 {
    let most = f64::from(logits[usize::from(likeliest(logits))]);
    let sum: f64 = logits.iter().map(|&logit| (f64::from(logit) - most).exp()).sum();
    sum.ln() + most - f64::from(logits[usize::from(word)])
}

/// A row for each word of a game, from its logits [words, 72].
///
/// # Errors
/// A move is not legal, or a logit is not finite. The message is to follow the game's name.
pub fn score(game: &Game, logits: &[f32]) -> Result<Vec<Legality>, String> {
    if let Some(place) = logits.iter().position(|logit| !logit.is_finite()) {
        return Err(format!("the model's logits after word {} are not finite", place / VOCABULARY));
    }
    let mut rows = Vec::with_capacity(game.words.len());
    game.read(|token, begun, words| {
        let logits = &logits[token * VOCABULARY..][..VOCABULARY];
        let (expected, next) = (likeliest(logits), game.next[token]);
        // Once the game is over no word is legal.
        let has_moves = !words.is_empty();
        let strict = words.after(begun);
        rows.push(Legality {
            game: game.number,
            token: token as u32,
            ply: game.words.after[token],
            phase: game.words.phases[token].number(),
            right: expected == next,
            legal: has_moves.then(|| strict.contains(expected)),
            loose: has_moves.then(|| words.loosely_after(begun).contains(expected)),
            mass: has_moves.then(|| strict.mass(logits)),
            loss: loss(logits, next),
        });
    })?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equally_likely_words_is_expected_and_losses_do_not_overflow() {
        let mut logits = [-1e4; VOCABULARY];
        (logits[5], logits[9]) = (1e4, 1e4);
        assert_eq!(likeliest(&logits), 5);
        assert!((loss(&logits, 9) - 2f64.ln()).abs() < 1e-12 && (loss(&logits, 0) - 2e4 - 2f64.ln()).abs() < 1e-9);
        assert!((loss(&[0.0; VOCABULARY], 7) - 72f64.ln()).abs() < 1e-12);
    }
}
