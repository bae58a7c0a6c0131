//! The probe: two short games between players of the same kinds, with little search, and fresh models of every form.

use std::path::PathBuf;

use cwm_chess::sample;
use cwm_contract::{Failure, Label, Parameter, Parameters, ProbeContext, ProbeInput, ProbeOutput};
use cwm_player::Form;
use cwm_player::sample::write_checkpoint;

use crate::Match;
use crate::config::Config;
use crate::kind::Kind;

/// Runs `match` on the probe's games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let values = context.values_with([
        ("first", quick(config.first).write()),
        ("second", quick(config.second).write()),
        ("games", context.at_most("games", 2)),
        ("opening_plies", context.at_most("opening_plies", 4)),
        ("max_plies", context.at_most("max_plies", 16)),
    ]);
    let openings = context.folder().join("openings");
    sample::write_games(&openings, &sample::games())?;
    let mut probed = ProbeOutput::new();
    let forms = if config.has_model() { &Form::ALL[..] } else { &[] };
    for form in forms {
        let mut inputs: Vec<ProbeInput> = vec![("openings", Label::stage("openings"), openings.clone())];
        for (input, kind, seed) in [("model", Kind::Model, 1), ("other", Kind::Other, 2)] {
            if [config.first, config.second].contains(&kind) {
                let folder: PathBuf = context.folder().join(format!("{input}-{}", form.name()));
                write_checkpoint(&folder, *form, "d32/l1", "causal", seed)?;
                inputs.push((input, Label::stage(input), folder));
            }
        }
        probed.extend(context.run(&Match, form.name(), &values, &inputs)?);
    }
    if forms.is_empty() {
        probed = context.run(&Match, "run", &values, &[("openings", Label::stage("openings"), openings)])?;
    }
    Ok(probed)
}

/// Returns this kind of player, with little search.
fn quick(kind: Kind) -> Kind {
    match kind {
        Kind::Level(weakest, strongest) => Kind::Level(weakest.min(1), strongest.min(2)),
        Kind::Nodes(nodes) => Kind::Nodes(nodes.min(100)),
        Kind::Depth(depth) => Kind::Depth(depth.min(2)),
        Kind::Model | Kind::Other | Kind::Random => kind,
    }
}
