//! The statistics of each layer.

use cwm_contract::{Context, Failure};
use cwm_findings::{Finding, Kind};
use cwm_inside::alignment::{Alignment, Null, Population, Units, by_suffix, holm};
use cwm_inside::{Model, Rows};
use cwm_models::worker_pool::WorkerPool;

use crate::config::Config;
use crate::members::Members;

/// A measurement of the alignment of a model's rows within their classes.
pub struct AlignmentRun<'a> {
    /// Inputs, outputs, services.
    pub context: &'a Context,
    /// Parameters.
    pub config: &'a Config,
    /// The model that the rows are from.
    pub model: &'a Model,
    /// The sequences.
    pub members: &'a Members,
    /// Threads.
    pub workers: &'a WorkerPool,
}

/// The pairs of rows of different classes that pairs within classes are compared with.
struct Baseline {
    name: &'static str,
    population: Population,
    pairs: Vec<[u32; 2]>,
    /// The seed of its pairs; those of its permutations follow it.
    seeds: u128,
}

impl AlignmentRun<'_> {
    /// The findings of these sites, whose rows these are.
    ///
    /// # Errors
    /// A row has no direction, no pair of rows can be compared, or the stage was cancelled.
    pub fn run(&self, sites: &[usize], rows: &Rows) -> Result<Vec<Finding>, Failure> {
        let compared = self.baselines()?;
        let mut by_population: Vec<Vec<Finding>> = compared.iter().map(|_| Vec::new()).collect();
        let mut suffixes = Vec::new();
        for (place, &site) in sites.iter().enumerate() {
            self.context.activity(format!("layer {site}"));
            let mut values = Vec::new();
            rows.read(place, 0..rows.len(), &mut values);
            let units = Units::new(&values, rows.width()).map_err(|row| self.without_direction(site, row))?;
            drop(values);
            for (compared, findings) in compared.iter().zip(&mut by_population) {
                let alignment = Alignment::new(&units, &self.members.classes, &compared.pairs);
                let null = self.null(&units, compared, &alignment)?;
                if findings.len() == suffixes.len() {
                    suffixes.push(self.by_suffix(site, &units, &alignment));
                }
                findings.push(self.finding(site, compared.name, &alignment, null));
            }
            self.context.progress(place as u64 + 1, Some(sites.len() as u64), "layers");
        }
        for findings in &mut by_population {
            let p: Vec<f64> = findings.iter().filter_map(|finding| finding.get("p")).collect();
            for (finding, corrected) in findings.iter_mut().zip(holm(&p)) {
                finding.values.insert("p_holm".to_owned(), corrected);
            }
        }
        Ok(by_population.into_iter().flatten().chain(suffixes).collect())
    }

    fn baselines(&self) -> Result<Vec<Baseline>, Failure> {
        let Members { class, strata, .. } = self.members;
        let mut compared = Vec::new();
        for (number, name) in [(0u128, "all"), (1, "matched")] {
            if self.config.population != name && self.config.population != "both" {
                continue;
            }
            let population = if name == "all" { Population::all(class) } else { Population::strata(class, strata) };
            let seeds = u128::from(self.config.seed) << 64 | number << 63;
            let pairs = population.pairs(self.config.pairs as usize, seeds);
            if pairs.is_empty() {
                let message = format!("`population: {name}` has no two rows to compare that are of different classes");
                let or = if name == "all" { "" } else { ", or set `population: all`" };
                return Err(Failure::input(message).hint(format!("give `transpositions` more games{or}")));
            }
            compared.push(Baseline { name, population, pairs, seeds });
        }
        Ok(compared)
    }

    fn null(&self, units: &Units, compared: &Baseline, alignment: &Alignment) -> Result<Null, Failure> {
        let permuted = self.workers.map(self.config.permutations as usize, |number| {
            self.context.check_cancelled()?;
            let order = compared.population.shuffled(compared.seeds + 1 + number as u128);
            Ok::<_, Failure>(alignment.permuted(units, &self.members.classes, &order))
        });
        let permuted = permuted.into_iter().collect::<Result<Vec<f64>, _>>()?;
        Ok(Null::new(alignment.statistic, &permuted))
    }

    fn named(&self, site: usize, population: &str, n: u64) -> Finding {
        let made_by = &self.members.made_by;
        Finding::new(Kind::Alignment, self.model.name(), self.model.weights_source().name(), Some(site as u32), n)
            .name("task", self.model.task().name())
            .name("population", population)
            .name("same", &made_by.same)
            .name("sequences", &made_by.sequences)
    }

    fn finding(&self, site: usize, population: &str, alignment: &Alignment, null: Null) -> Finding {
        self.named(site, population, self.members.classes.len() as u64)
            .value("within", alignment.within)
            .value("between", alignment.mu)
            .value("sigma", alignment.sigma)
            .value("statistic", alignment.statistic)
            .value("d", alignment.effect)
            .value("null_mean", null.mean)
            .value("null_sd", null.deviation)
            .value("p", null.p)
    }

    /// The pairs within classes whose last two moves differ, against the same random pairs.
    fn by_suffix(&self, site: usize, units: &Units, alignment: &Alignment) -> Finding {
        let [shared, other] = by_suffix(units, &self.members.classes, &self.members.suffixes);
        let statistic = other.mean - alignment.mu;
        let mut finding = self
            .named(site, "suffix", other.classes)
            .value("between", alignment.mu)
            .value("sigma", alignment.sigma)
            .value("pairs", other.pairs as f64)
            .value("pairs_shared", shared.pairs as f64);
        if shared.pairs > 0 {
            finding = finding.value("within_shared", shared.mean);
        }
        if other.pairs == 0 {
            return finding;
        }
        finding.value("within", other.mean).value("statistic", statistic).value("d", alignment.effect_of(statistic))
    }

    fn without_direction(&self, site: usize, row: usize) -> Failure {
        let mut before = 0;
        let place = self.members.wanted.iter().find_map(|game| {
            let token = game.tokens.get(row - before).map(|token| (&game.id, token));
            before += game.tokens.len();
            token
        });
        let place = place.map(|(id, token)| format!("game {id}, token {token}: ")).unwrap_or_default();
        Failure::input(format!("{place}the row of layer {site} is 0 throughout, and has no direction to compare"))
    }
}
