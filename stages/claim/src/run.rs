//! The stage: read, compare, check.

use std::collections::BTreeSet;

use cwm_contract::{Context, Failure};
use cwm_measures::{Arm, Comparison, GradedRuns, ModelChoices, Resampling, by_arm};

use crate::choice_claim_result::ChoiceClaimResult;
use crate::claim::{CheckedClaim, Claim};
use crate::config::Config;

/// Runs the stage.
///
/// # Errors
/// Choices are not what they should be or do not belong together, a claim is about an arm that is not there, or does not
/// hold; or the file cannot be written.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let claims = config.claims().map_err(Failure::input)?;
    let mut checked = Vec::new();
    if !claims.choices.is_empty() {
        checked.extend(check_choices(context, &config, &claims.choices)?);
    }
    let read = context.group("findings").iter().map(|input| cwm_findings::read(&input.path));
    let findings = read.collect::<Result<Vec<_>, _>>()?.concat();
    for claim in &claims.findings {
        checked.push(claim.check(&findings).map_err(|what| Failure::input(format!("`{claim}`: {what}")))?);
    }
    let mut graded = GradedRuns::default();
    context.group("grades").iter().try_for_each(|input| graded.add(&input.path))?;
    let resampling = Resampling { resamples: config.resamples, seed: config.seed };
    for claim in &claims.grades {
        context.check_cancelled()?;
        let found = claim.check(&graded, resampling);
        checked.extend(found.map_err(|what| Failure::input(format!("`{claim}`: {what}")))?);
    }
    checked.iter().for_each(|(_, summary, _)| context.log(summary));
    let failed: Vec<&str> = checked.iter().filter(|one| !one.0).map(|one| one.1.as_str()).collect();
    if !failed.is_empty() {
        let (number, all) = (failed.len(), checked.len());
        return Err(Failure::input(format!(
            "{number} of {all} claims do not hold with their whole intervals: {}",
            failed.join("; ")
        ))
        .hint("train longer, ask more positions, or claim less"));
    }
    let path = context.output("claims")?;
    let lines: String = checked.iter().map(|(_, _, json)| format!("{json}\n")).collect();
    std::fs::write(path, lines).map_err(|error| Failure::io("write", path, error))
}

fn check_choices(context: &Context, config: &Config, claims: &[Claim]) -> Result<Vec<CheckedClaim>, Failure> {
    let runs = context.group("choices").iter().map(ModelChoices::read).collect::<Result<Vec<_>, _>>()?;
    let tests: BTreeSet<&str> = runs.iter().map(ModelChoices::test).collect();
    if tests.len() > 1 {
        let tests = tests.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::input(format!("the choices are on several test sets: {tests}"))
            .hint("give `claim` those of one of them, such as `choices[test=held_out]`"));
    }
    let arms = by_arm(&runs)?;
    let checked = claims.iter().map(|claim| {
        context.check_cancelled()?;
        let finding = finding(claim, &arms, config)?;
        Ok((finding.holds(), finding.summary(), finding.json()))
    });
    checked.collect()
}

fn finding(claim: &Claim, arms: &[(Arm, Vec<&ModelChoices>)], config: &Config) -> Result<ChoiceClaimResult, Failure> {
    let (left, right) = (arm(&claim.left.arm, arms)?, arm(&claim.right.arm, arms)?);
    let places = if left.0 == right.0 { [0, 0] } else { [0, 1] };
    let both: Vec<_> = [left, right].into_iter().take(places[1] + 1).cloned().collect();
    let mut runs = both.iter().flat_map(|(_, runs)| runs);
    if let Some(run) = runs.find(|run| run.chooser.has_diverged()) {
        return Err(Failure::input(format!(
            "`{claim}`: the training behind {} diverged, which shows nothing",
            run.label
        ))
        .hint("train again, with a lower learning rate for instance"));
    }
    let compared = Comparison::new(&both, config.resamples, config.seed)?;
    ChoiceClaimResult::of(claim, &compared, places)
        .ok_or_else(|| Failure::input(format!("`{claim}`: there is no position in which both arms have a value")))
}

/// The only arm of this name.
fn arm<'a, 'b>(
    name: &str,
    arms: &'b [(Arm, Vec<&'a ModelChoices>)],
) -> Result<&'b (Arm, Vec<&'a ModelChoices>), Failure> {
    let named: Vec<_> = arms.iter().filter(|(arm, _)| arm.name == name).collect();
    match named[..] {
        [one] => Ok(one),
        [] => {
            let names: Vec<&str> = arms.iter().map(|(arm, _)| arm.name.as_str()).collect();
            Err(Failure::input(format!("there are no choices of the arm `{name}`, only of {}", names.join(", "))))
        }
        _ => {
            let names: Vec<String> = named.iter().map(|(arm, _)| arm.full_name()).collect();
            Err(Failure::input(format!("several arms are called `{name}`: {}", names.join("; ")))
                .hint("give `claim` the choices of one of them"))
        }
    }
}
