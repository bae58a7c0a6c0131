//! The linear probes whose directions are added.

use cwm_contract::{Failure, GroupInput};
use cwm_inside::Model;
use cwm_inside::linear_probe::{LinearProbe, LinearProbes, Target};
use shakmaty::{Board, Square};

use crate::comparison::{label_of, piece_of};

/// Linear probes, and the name of edits by them.
#[derive(Clone, Debug)]
pub struct NamedLinearProbes {
    /// `probe`; `sae_probe` and `cd_probe` of an autoencoder's latents.
    pub name: &'static str,
    probes: LinearProbes,
}

impl NamedLinearProbes {
    /// The linear probe of a layer, if there is one.
    pub fn probe(&self, layer: usize) -> Option<&LinearProbe> {
        self.probes.layers.get(&layer).map(|of_layer| &of_layer.probe)
    }

    /// The board that the linear probe of a layer reads from a row of the stream; `None` if it reads latents, or there is none.
    pub fn read_board(&self, layer: usize, row: &[f32]) -> Option<Board> {
        let of_layer = self.probes.layers.get(&layer).filter(|_| self.probes.description.of == "stream")?;
        let classes = of_layer.read(row);
        let mut board = Board::empty();
        for square in Square::ALL {
            if let Some(piece) = piece_of(classes[label_of(square)]) {
                board.set_piece_at(square, piece);
            }
        }
        Some(board)
    }
}

/// Reads linear probes of `model`, each of which must have these layers.
///
/// # Errors
/// They are of another model, target or layers, or two have the same name.
pub fn read(inputs: &[GroupInput], model: &Model, layers: &[usize]) -> Result<Vec<NamedLinearProbes>, Failure> {
    let mut sets: Vec<NamedLinearProbes> = Vec::new();
    for input in inputs {
        let probes = LinearProbes::read(&input.path)?;
        let about = &probes.description;
        let wrong = |what: String| Failure::input(format!("the linear probes of {} {what}", input.label));
        if about.model.get("digest").and_then(serde_json::Value::as_str) != Some(model.digest()) {
            let hint = "give `edit` the checkpoint from which they were made, and those of the trained network";
            return Err(wrong(format!("are of another model than the checkpoint, {}", model.name())).hint(hint));
        }
        if about.width != model.width() {
            let (found, width) = (about.width, model.width());
            return Err(wrong(format!("are of rows of {found} channels, and {} has {width}", model.name())));
        }
        if about.target != Target::Both.name() {
            return Err(wrong(format!("have the target `{}`, and edits need `both`", about.target)));
        }
        if about.last != "raw" {
            let hint = "make them with `normed: false`";
            return Err(
                wrong("read the last layer behind the final norm, and edits are before it".to_owned()).hint(hint)
            );
        }
        if about.training.get("labels").and_then(serde_json::Value::as_str) == Some("shuffled") {
            return Err(wrong("were trained on shuffled boards".to_owned()).hint("make them with `labels: own`"));
        }
        if about.classes != Target::Both.classes() {
            let hint = format!("the classes of `both` are {}", Target::Both.classes().join(" "));
            return Err(wrong(format!("have the classes {}", about.classes.join(" "))).hint(hint));
        }
        if let Some(layer) = layers.iter().find(|layer| !probes.layers.contains_key(layer)) {
            let hint = "`layers` names those that are edited";
            return Err(wrong(format!("have no layer {layer}; they have {:?}", about.layers)).hint(hint));
        }
        let name = match (about.of.as_str(), about.method.as_str()) {
            ("latents", "difference") => "cd_probe",
            ("latents", _) => "sae_probe",
            _ => "probe",
        };
        if sets.iter().any(|set| set.name == name) {
            return Err(wrong(format!("make edits called `{name}`, as those of another input do")));
        }
        sets.push(NamedLinearProbes { name, probes });
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use cwm_inside::ModelTask;
    use cwm_inside::linear_probe::{LayerProbe, SQUARES};
    use cwm_inside::sample::write_checkpoint;

    use super::*;
    use crate::comparison::class_of;

    #[test]
    fn a_planted_board_is_read_from_the_stream_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [checkpoint, path] = ["checkpoint", "probes"].map(|name| folder.path().join(name));
        write_checkpoint(&checkpoint, ModelTask::Moves, "gpt", "d32/l1", 7).unwrap();
        crate::probe::write_probes(&path, &checkpoint).unwrap();
        let mut probes = LinearProbes::read(&path).unwrap();
        let mut weight = vec![0.0; SQUARES * 13];
        for (square, piece) in Board::new() {
            weight[label_of(square) * 13 + usize::from(class_of(piece))] = 1.0;
        }
        let planted = LayerProbe { probe: LinearProbe::new(13, 1, weight), latent: None, scale: 2.0 };
        probes.layers.insert(0, planted);
        let mut set = NamedLinearProbes { name: "probe", probes };
        assert_eq!(set.read_board(0, &[2.0]), Some(Board::new()));
        set.probes.description.of = "latents".to_owned();
        assert_eq!(set.read_board(0, &[2.0]), None);
    }
}
