//! The task that a model was trained on, and the origin of its weights.

use cwm_models::checkpoint::Description;
use cwm_sequences::Vocabulary;

/// The task that a model was trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelTask {
    /// Words of moves, of which it predicts the next (`learn` on sequences of the form `words`): 72 in, 72 out.
    Moves,
    /// Moves, after each of which it predicts the board as 75 labels (`train`).
    State,
}

impl ModelTask {
    /// `moves` or `state`, as findings have it.
    pub fn name(self) -> &'static str {
        match self {
            ModelTask::Moves => "moves",
            ModelTask::State => "state",
        }
    }
}

/// The weights that a model computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsSource {
    /// The weights of the checkpoint.
    Trained,
    /// Initial weights of this seed for the checkpoint's architecture.
    Untrained {
        /// Seed of the weights.
        seed: u64,
    },
}

impl WeightsSource {
    /// `trained` or `untrained`, as findings have it.
    pub fn name(self) -> &'static str {
        match self {
            WeightsSource::Trained => "trained",
            WeightsSource::Untrained { .. } => "untrained",
        }
    }
}

/// The task of a model, and its numbers of inputs and outputs; or what is wrong.
pub(crate) fn sizes(description: &Description) -> Result<(ModelTask, usize, usize), String> {
    let Some(vocabulary) = description.training.get("vocabulary") else {
        return Ok((ModelTask::State, cwm_encoding::VOCABULARY, cwm_encoding::LOGITS));
    };
    let vocabulary: Vocabulary =
        serde_json::from_value(vocabulary.clone()).map_err(|error| format!("its `vocabulary`: {error}"))?;
    if vocabulary.form != "words" {
        return Err(format!(
            "it reads sequences of the form `{}`, not words of moves (`learn` on the form `words`), and is no model of boards (`train`)",
            vocabulary.form
        ));
    }
    Ok((ModelTask::Moves, usize::from(vocabulary.inputs), usize::from(vocabulary.targets)))
}
