//! Findings of linear probes, from their counts on test games.

use cwm_findings::{Finding, Kind};
use cwm_inside::Model;
use cwm_inside::linear_probe::{Composition, Metrics, SQUARES, Target, intervals};
use cwm_models::worker_pool::WorkerPool;

use crate::config::Config;
use crate::measure::LinearProbeCounts;

/// Writes findings about one model.
pub struct FindingsBuilder<'a> {
    /// The parameters.
    pub config: &'a Config,
    /// The model.
    pub model: &'a Model,
    /// `stream` or `latents`.
    pub input_kind: &'static str,
    /// The workers that compute resamples.
    pub workers: &'a WorkerPool,
}

impl FindingsBuilder<'_> {
    /// The findings of a linear probe of a layer, or of the majority class: of all squares with intervals, then of each square.
    pub fn probe(
        &self,
        method: &str,
        layer: Option<u32>,
        loss: Option<f64>,
        measured: &LinearProbeCounts,
    ) -> Vec<Finding> {
        let all = measured.all();
        let intervals = intervals(&measured.games, self.config.resamples, self.config.seed, self.workers);
        let mut whole = self.named(method, layer, all.rows());
        for (name, value) in Metrics::of(&all).named() {
            // Only what is trained has a loss; without a piece on any board nothing is occupied.
            if value.is_finite() && (name != "loss" || method == "linear") {
                let interval = intervals.iter().find(|interval| interval.name == name);
                whole = whole.estimate(name, value, interval.map(|interval| (interval.low, interval.high)));
            }
        }
        if let Some(loss) = loss {
            whole = whole.value("training_loss", loss);
        }
        let of_square = |(square, [right, pieces, hits]): (usize, &[u64; 3])| {
            let finding = self.named(method, layer, all.rows()).name("square", square_name(square));
            let finding = finding.value("accuracy", *right as f64 / all.rows() as f64);
            if *pieces == 0 { finding } else { finding.value("occupied", *hits as f64 / *pieces as f64) }
        };
        std::iter::once(whole).chain(measured.squares.iter().enumerate().map(of_square)).collect()
    }

    /// The findings that compare the sums of a layer's probes of colour and piece with its probe of both.
    pub fn composition(&self, layer: u32, found: &[Composition]) -> Vec<Finding> {
        let finding = |composition: &Composition| {
            let mut finding = self.finding(Kind::Composition, Some(layer), SQUARES as u64);
            finding = finding.name("colour", Target::Colour.classes()[composition.colour]);
            finding = finding.name("piece", Target::Piece.classes()[composition.piece]);
            for (class, cosine) in Target::Both.classes()[1..].iter().zip(composition.cosines) {
                finding = finding.value(class, cosine);
            }
            match composition.own_and_others() {
                None => finding,
                Some((own, others)) => finding.value("own", own).value("others", others),
            }
        };
        found.iter().map(finding).collect()
    }

    fn named(&self, method: &str, layer: Option<u32>, rows: u64) -> Finding {
        let labels = if self.config.labels == "shuffled" { "shuffled" } else { "true" };
        self.finding(Kind::Probe, layer, rows)
            .name("method", method)
            .name("of", self.input_kind)
            .name("target", &self.config.target)
            .name("labels", labels)
            .name("phase", &self.config.phase)
            .name("board", &self.config.board)
    }

    fn finding(&self, kind: Kind, layer: Option<u32>, rows: u64) -> Finding {
        Finding::new(kind, self.model.name(), self.model.weights_source().name(), layer, rows)
            .name("task", self.model.task().name())
    }
}

/// The name of a square by its place in labels: a8 first, h1 last.
fn square_name(square: usize) -> String {
    format!("{}{}", char::from(b'a' + (square % 8) as u8), 8 - square / 8)
}
