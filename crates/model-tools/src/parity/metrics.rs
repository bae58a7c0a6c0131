//! The metrics of predictions, against the authors' summary.

use std::collections::BTreeMap;

use cwm_contract::Quantity;
use cwm_models::heads::labels::{LABELS, LOGITS, LabelTotals, PositionScore, SPANS};
use serde::Deserialize;

use super::error_stats::{ErrorStats, Tolerance};

/// The logit of the predicted class in these files; all others are 0.
const PREDICTED: f32 = 3.0;
/// Tolerance of losses, which the authors add up in f32.
const LOSS: f64 = 1e-6;
/// Tolerance of shares of labels, which carry the authors' rounding to f32.
const LABELWISE: f64 = 3e-7;
/// Tolerance of quotients of counts.
const QUOTIENT: f64 = 1e-12;

#[derive(Deserialize)]
struct PublishedMetrics {
    bin_size: usize,
    batches: Vec<Batch>,
    summary: BTreeMap<String, f64>,
}

/// Games of a batch by step: classes of the 75 labels, and 1 where a step is padding.
#[derive(Deserialize)]
struct Batch {
    pred: Vec<Vec<Vec<u8>>>,
    target: Vec<Vec<Vec<u8>>>,
    pad: Vec<Vec<u8>>,
    loss: BatchLoss,
}

#[derive(Deserialize)]
struct BatchLoss {
    loss: f64,
    loss_sum: f64,
    denom: f64,
}

/// Compares `metrics.json`: the loss of each batch and every entry of the summary.
pub fn compare(text: &[u8]) -> Result<Vec<Quantity>, String> {
    let PublishedMetrics { bin_size, batches, summary } =
        serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if bin_size == 0 {
        return Err("`bin_size` is 0".to_owned());
    }
    if summary.is_empty() {
        return Err("`summary` is empty".to_owned());
    }
    let mut quantities = Vec::new();
    let mut whole = LabelTotals::default();
    let mut bins = BTreeMap::<usize, LabelTotals>::new();
    for (index, batch) in batches.iter().enumerate() {
        let mut of_batch = LabelTotals::default();
        for scores in games(batch).map_err(|error| format!("`batches[{index}]` {error}"))? {
            of_batch.add_game(&scores);
            whole.add_game(&scores);
            for (t, score) in scores.into_iter().enumerate() {
                bins.entry(t / bin_size).or_default().add_game(&[score]);
            }
        }
        let BatchLoss { loss, loss_sum, denom } = batch.loss;
        let labels = (of_batch.positions * LABELS as u64) as f64;
        let measured = [
            ("loss", of_batch.loss(), loss, Tolerance::absolute(LOSS, loss)),
            ("loss_sum", of_batch.loss_sum, loss_sum, Tolerance::relative(LOSS, denom)),
            ("denom", labels, denom, Tolerance::exact(denom)),
        ];
        quantities.extend(measured.into_iter().filter_map(|(name, found, expected, tolerance)| {
            ErrorStats::one(format!("batches[{index}].{name}"), found, expected, tolerance)
        }));
    }
    for (name, &expected) in &summary {
        let (found, tolerance) = entry(name, bin_size, &whole, &bins)
            .ok_or_else(|| format!("`summary` has an entry `{name}`, and it is not known what that is"))?;
        quantities.extend(ErrorStats::one(name, found, expected, Tolerance::absolute(tolerance, expected)));
    }
    Ok(quantities)
}

/// Our value of an entry of the summary, and its tolerance.
fn entry(name: &str, bin_size: usize, whole: &LabelTotals, bins: &BTreeMap<usize, LabelTotals>) -> Option<(f64, f64)> {
    match name.strip_prefix("val/")? {
        "loss" => return Some((whole.loss(), LOSS)),
        "overall/full_exact" => return Some((whole.exact(), QUOTIENT)),
        "overall/partial_exact" => return Some((whole.labelwise(), LABELWISE)),
        "game_exact" => return Some((whole.trajectory(), QUOTIENT)),
        "game_exact_num" => return Some((whole.exact_games as f64, 0.0)),
        "game_exact_denom" => return Some((whole.games as f64, 0.0)),
        _ => {}
    }
    let (range, what) = name.strip_prefix("val/bin")?.split_once('/')?;
    let (from, to) = range.split_once('-')?;
    let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
    let tally = bins.get(&(from / bin_size)).filter(|_| from.is_multiple_of(bin_size) && to == from + bin_size)?;
    match what {
        "n" => Some((tally.positions as f64, 0.0)),
        "full_exact" => Some((tally.exact(), QUOTIENT)),
        "partial_exact" => Some((tally.labelwise(), LABELWISE)),
        _ => None,
    }
}

/// Scores of all real steps, game by game.
fn games(batch: &Batch) -> Result<Vec<Vec<PositionScore>>, String> {
    if batch.pred.len() != batch.pad.len() || batch.target.len() != batch.pad.len() {
        return Err("has not as many games in `pred`, `target` and `pad`".to_owned());
    }
    let games = batch.pred.iter().zip(&batch.target).zip(&batch.pad).enumerate();
    games
        .map(|(game, ((predicted, target), pad))| {
            if predicted.len() != pad.len() || target.len() != pad.len() {
                return Err(format!("has not as many steps in `pred`, `target` and `pad` of game {game}"));
            }
            let steps = predicted.iter().zip(target).zip(pad).enumerate();
            let real = steps.filter(|(_, (_, pad))| **pad == 0);
            real.map(|(t, ((predicted, target), _))| {
                score(predicted, target).map_err(|error| format!("{error}, in step {t} of game {game}"))
            })
            .collect()
        })
        .collect()
}

fn score(predicted: &[u8], target: &[u8]) -> Result<PositionScore, String> {
    for (what, classes) in [("pred", predicted), ("target", target)] {
        if classes.len() != LABELS {
            return Err(format!("has {} labels where {LABELS} are needed in `{what}`", classes.len()));
        }
        let wrong = classes.iter().zip(SPANS).position(|(&class, (_, classes))| usize::from(class) >= classes);
        if let Some(label) = wrong {
            return Err(format!("has class {} of label {label} in `{what}`, which has none", classes[label]));
        }
    }
    let mut logits = vec![0.0; LOGITS];
    for (&(start, _), &class) in SPANS.iter().zip(predicted) {
        logits[start + usize::from(class)] = PREDICTED;
    }
    Ok(PositionScore::new(&logits, target))
}
