//! The similarity of texts by their words: BM25.

use std::collections::HashMap;

/// The parameters k₁ and b of BM25, with their usual values: the saturation of a repeated word, the weight of a text's
/// length.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

/// The words of some texts.
pub struct LexicalIndex {
    /// For each word the texts that contain it, and how often.
    texts_of: HashMap<String, Vec<(usize, f64)>>,
    /// The number of words of each text, by their mean.
    lengths: Vec<f64>,
}

impl LexicalIndex {
    /// Counts the words of these texts.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut texts_of: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (at, text) in texts.enumerate() {
            let mut length = 0.0;
            for word in words(text) {
                length += 1.0;
                let texts = texts_of.entry(word).or_default();
                match texts.last_mut() {
                    Some((last, count)) if *last == at => *count += 1.0,
                    _ => texts.push((at, 1.0)),
                }
            }
            lengths.push(length);
        }
        let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        lengths.iter_mut().for_each(|length| *length /= mean.max(1.0));
        LexicalIndex { texts_of, lengths }
    }

    /// The similarity of each text to `text`: a sum over the words of `text`.
    pub fn scores(&self, text: &str) -> Vec<f64> {
        let mut scores = vec![0.0; self.lengths.len()];
        let count = self.lengths.len() as f64;
        for word in words(text) {
            let texts = self.texts_of.get(&word).map_or(&[][..], Vec::as_slice);
            let rarity = (1.0 + (count - texts.len() as f64 + 0.5) / (texts.len() as f64 + 0.5)).ln();
            for &(at, times) in texts {
                let damping = SATURATION * (1.0 - LENGTH + LENGTH * self.lengths[at]);
                scores[at] += rarity * times * (SATURATION + 1.0) / (times + damping);
            }
        }
        scores
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
