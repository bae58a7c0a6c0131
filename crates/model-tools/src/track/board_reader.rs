//! The board that a linear probe reads in a layer of a model.

use std::path::Path;

use cwm_contract::Failure;
use cwm_encoding::LABELS;
use cwm_inside::linear_probe::{LayerProbe, LinearProbes, LinearProbesDescription, Target};

use super::inside::InspectedModel;
use super::position_prediction::ProbedBoard;
use super::prediction;

/// A linear probe of a layer, with its model.
pub struct BoardReader<'m> {
    inside: &'m InspectedModel,
    layer: usize,
    normed: bool,
    probe: LayerProbe,
}

impl<'m> BoardReader<'m> {
    /// Takes the linear probe of `layer`, by default the last, from a folder of them.
    ///
    /// # Errors
    /// They cannot be read, are of another model, do not read whole boards after each ply, or have no such layer.
    pub fn open(folder: &Path, layer: Option<u64>, inside: &'m InspectedModel) -> Result<Self, Failure> {
        let mut probes = LinearProbes::read(folder)?;
        let unusable = |what: String| Failure::input(format!("the linear probes {} {what}", folder.display()));
        check_model(&probes.description, inside).map_err(|(what, hint)| unusable(what).hint(hint))?;
        check_reading(&probes.description).map_err(|(what, hint)| unusable(what).hint(hint))?;
        let layers = &probes.description.layers;
        let found = match layer {
            None => layers.last().copied(),
            Some(layer) => layers.iter().copied().find(|&found| found as u64 == layer),
        };
        let of_layer = found.and_then(|found| Some((found, probes.layers.remove(&found)?)));
        let Some((layer, probe)) = of_layer else {
            let layers: Vec<String> = layers.iter().map(usize::to_string).collect();
            let wanted = layer.map_or("no layer".to_owned(), |layer| format!("no layer {layer}"));
            return Err(unusable(format!("have {wanted}")).hint(format!("they have {}", layers.join(", "))));
        };
        let normed = probes.description.last == "normed";
        Ok(BoardReader { inside, layer, normed, probe })
    }

    /// Reads the board after the last of these tokens, beside the labels of the position.
    ///
    /// # Errors
    /// They are more than the model reads.
    pub fn read(&self, tokens: &[u16], truth: &[u8; LABELS]) -> Result<ProbedBoard, Failure> {
        let board = self.probe.read(&self.inside.row(tokens, self.layer, self.normed)?);
        Ok(prediction::probed(self.layer, &board, truth))
    }
}

/// Refuses linear probes of another model: what is wrong, and what to do.
fn check_model(of: &LinearProbesDescription, inside: &InspectedModel) -> Result<(), (String, String)> {
    let model = &inside.model;
    if of.network != "trained" {
        let hint = "name those of the trained network (`network: trained`)";
        return Err(("are of an untrained network".to_owned(), hint.to_owned()));
    }
    if of.model.get("digest").and_then(serde_json::Value::as_str) != Some(model.digest()) || of.width != model.width() {
        let what = format!("are of another model than the checkpoint, which is {}", model.name());
        return Err((what, "linear probes and checkpoint must be of one training".to_owned()));
    }
    Ok(())
}

/// Refuses linear probes that do not read whole boards after each ply: what is wrong, and what to do.
fn check_reading(of: &LinearProbesDescription) -> Result<(), (String, String)> {
    let refused = |name: &str, found: &str, wanted: &str| {
        let hint = format!("here they must have `{name}: {wanted}`");
        Err((format!("were made with `{name}: {found}`"), hint))
    };
    // The file has no biases, without which differences of means read nothing, and no autoencoder, which latents need.
    for (name, found, wanted) in [
        ("of", &of.of, "stream"),
        ("target", &of.target, Target::Both.name()),
        ("method", &of.method, "linear"),
        ("phase", &of.phase, "any"),
        ("board", &of.board, "after"),
    ] {
        if found != wanted {
            return refused(name, found, wanted);
        }
    }
    if of.classes != Target::Both.classes() {
        let hint = format!("here they must be {}", Target::Both.classes().join(" "));
        return Err((format!("have the classes {}", of.classes.join(" ")), hint));
    }
    Ok(())
}
