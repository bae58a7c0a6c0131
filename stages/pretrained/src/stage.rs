//! The stage as the executor sees it.

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, Stage, Values,
};
use cwm_foreign::import_model;
use cwm_models::{checkpoint, families};

use crate::config::Config;

/// Takes over a model of another program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pretrained;

impl Stage for Pretrained {
    fn kind(&self) -> &'static str {
        "pretrained"
    }

    fn description(&self) -> &'static str {
        "Takes over a model that another program trained, such as the authors', from its file."
    }

    fn inputs(&self) -> Vec<Input> {
        Vec::new()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::folder("checkpoint", Format::CHECKPOINT, "The model.")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: Some(1), gpu: 0.0, memory: 1 << 30 }
    }

    fn code_parts(&self, values: &Values) -> Option<Vec<String>> {
        let family = families::find(&Config::read(values).ok()?.family?).ok()?;
        Some(vec![family.part.to_owned()])
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        context.activity("reading the model");
        let imported = import_model(&config.source.0, &config.hints())?;
        let architecture = &imported.description.architecture;
        context.log(format!(
            "{} {}, {} parameters",
            architecture.family, architecture.size, imported.description.parameters
        ));
        for note in &imported.notes {
            context.log(note.clone());
        }
        checkpoint::write(context.output("checkpoint")?, &imported.description, &imported.weights)?;
        Ok(())
    }
}
