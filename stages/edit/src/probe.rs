//! The probe: fresh models of both tasks, with made-up linear probes, on the sample's games.

use std::path::Path;

use cwm_chess::sample;
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput, Value};
use cwm_inside::linear_probe::{FORMAT, LayerProbe, LinearProbe, LinearProbes, LinearProbesDescription, Target};
use cwm_inside::sample::write_checkpoint;
use cwm_inside::{Model, ModelTask, WeightsSource};
use cwm_models::{device, families};

use crate::EditStage;
use crate::config::Config;

/// Edits made-up models.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let games = context.folder().join("games");
    sample::write_dataset(&games, &sample::games())?;
    let values = context.values_with([
        ("layers", Value::List(Vec::new())),
        ("plies", Value::List([4, 9].map(Value::Int).into())),
        ("games", Value::Int(3)),
        ("resamples", Value::Int(100)),
        ("cases", Value::List(Vec::new())),
    ]);
    let wanted = Config::read(context.values()).ok().and_then(|config| config.family);
    let all = families::FAMILIES.iter().map(|family| family.name);
    let mut probed = ProbeOutput::new();
    for family in all.filter(|name| wanted.as_deref().is_none_or(|family| family == *name)) {
        for (task, name) in [(ModelTask::Moves, "moves"), (ModelTask::State, "state")] {
            let name = format!("{family}-{name}");
            let (checkpoint, probes) = (context.folder().join(&name), context.folder().join(format!("{name}-probes")));
            write_checkpoint(&checkpoint, task, family, "d32/l1", 7)?;
            write_probes(&probes, &checkpoint)?;
            let inputs = [("checkpoint", checkpoint), ("games", games.clone()), ("probes", probes)];
            let inputs = inputs.map(|(input, path)| (input, Label::stage(input), path));
            probed.extend(context.run(&EditStage, &name, &values, &inputs)?);
        }
    }
    Ok(probed)
}

/// Writes linear probes with random weights of all layers of a checkpoint.
pub fn write_probes(folder: &Path, checkpoint: &Path) -> Result<(), Failure> {
    let model = Model::open(checkpoint, WeightsSource::Trained, &device::cpu())?;
    let layers: Vec<usize> = (0..model.sites()).collect();
    let classes = Target::Both.classes();
    let probe = |layer: usize| LayerProbe {
        probe: LinearProbe::initial(classes.len(), model.width(), layer as u64),
        latent: None,
        scale: 1.0,
    };
    let description = LinearProbesDescription {
        format: FORMAT,
        model: model.json(),
        network: "trained".to_owned(),
        width: model.width(),
        layers: layers.clone(),
        last: "raw".to_owned(),
        of: "stream".to_owned(),
        target: Target::Both.name().to_owned(),
        classes: classes.iter().map(|class| (*class).to_owned()).collect(),
        method: "linear".to_owned(),
        phase: "any".to_owned(),
        board: "after".to_owned(),
        training: serde_json::Map::new(),
    };
    LinearProbes { description, layers: layers.into_iter().map(|layer| (layer, probe(layer))).collect() }.write(folder)
}
