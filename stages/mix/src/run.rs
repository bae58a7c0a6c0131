//! The run of `mix`.

use std::io::{BufReader, BufWriter, Write};

use cwm_contract::{Context, Failure, GroupInput};
use cwm_game::StreamRng;
use cwm_questions::write_line;
use cwm_random::Random;
use cwm_reasoning::{Example, Mixture, Source, mix, read_examples};

use crate::config::Config;
use crate::tokens::TokenCounter;

/// A mix with less than this share of its tokens is pointed out.
const NEARLY_ALL: f64 = 0.95;

/// Reads `examples`, and writes `examples` and `mixture`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let counter = TokenCounter::open(config.tokenizer.as_ref().map(|file| &*file.0))?;
    let (mut sources, mut examples) = (Vec::new(), Vec::new());
    let weights = config.labels().map_err(|wrong| Failure::input(format!("`weights` has {wrong}")))?;
    for input in context.group("examples") {
        let weight = weights.iter().find(|(label, _)| *label == input.label).map_or(0., |(_, weight)| *weight);
        context.check_cancelled()?;
        context.activity(format!("reading {}", input.label));
        let read = if weight > 0. { shuffled(input, &config)? } else { Vec::new() };
        let tokens = read.iter().map(|example| counter.count(example.target())).collect::<Result<_, _>>()?;
        sources.push(Source { name: input.label.to_string(), weight, tokens });
        examples.push(read.into_iter());
    }
    let mixed = mix(&sources, config.tokens).map_err(|wrong| Failure::input(format!("`weights`: {wrong}")))?;
    if mixed.order.is_empty() {
        return Err(nothing(&mixed.mixture));
    }
    if mixed.mixture.tokens == 0 {
        return Err(no_tokens(&config));
    }
    let taken = mixed.order.iter().map(|&source| Some(named(&sources[source].name, examples[source].next()?)));
    let taken = taken.collect::<Option<Vec<Example>>>();
    let mut taken = taken.ok_or_else(|| Failure::internal("a source has fewer examples than tokens"))?;
    stream("mix", &config).shuffle(&mut taken);
    let mut out = BufWriter::new(fs_err::File::create(context.output("examples")?)?);
    for example in &taken {
        write_line(&mut out, example)?;
    }
    out.flush()?;
    note_shortage(context, &mixed.mixture);
    let mixture = serde_json::to_string(&mixed.mixture).map_err(|error| Failure::internal(error.to_string()))?;
    fs_err::write(context.output("mixture")?, mixture + "\n")?;
    context.metric("tokens", mixed.mixture.tokens as f64);
    Ok(())
}

/// The examples of a source, in the order in which they are taken.
fn shuffled(input: &GroupInput, config: &Config) -> Result<Vec<Example>, Failure> {
    let file = BufReader::new(fs_err::File::open(&input.path)?);
    let mut examples = read_examples(file, &input.label.to_string())?;
    stream(&format!("mix {}", input.label), config).shuffle(&mut examples);
    Ok(examples)
}

fn stream(purpose: &str, config: &Config) -> StreamRng {
    StreamRng::new(purpose, &config.seed.to_string(), 0)
}

/// The example, whose id has its source before it: ids are unique in one source alone.
fn named(source: &str, example: Example) -> Example {
    Example { id: format!("{source}/{}", example.id), ..example }
}

fn nothing(mixture: &Mixture) -> Failure {
    match mixture.sources.iter().find(|source| source.exhausted) {
        Some(empty) => Failure::input(format!("{} has no examples", empty.source)),
        None => {
            Failure::input(format!("the first example has more than {} tokens", mixture.budget)).hint("raise `tokens`")
        }
    }
}

/// The failure of a mix whose examples have no token, so that there are no shares.
fn no_tokens(config: &Config) -> Failure {
    let failure = Failure::input("the assistant's texts have no tokens");
    match &config.tokenizer {
        Some(file) => failure.hint(format!("{} has no tokens for them: is it the model's?", file.0.display())),
        None => failure,
    }
}

/// Points out a mix that is short of tokens, with the source that ended it and the shares that came out.
fn note_shortage(context: &Context, mixture: &Mixture) {
    let Some(ended) = mixture.sources.iter().find(|source| source.exhausted) else { return };
    if (mixture.tokens as f64) < NEARLY_ALL * mixture.budget as f64 {
        let share = |tokens: u64| format!("{:.1} %", 100. * tokens as f64 / mixture.tokens as f64);
        let shares = mixture.sources.iter().filter(|source| source.weight > 0.);
        let shares: Vec<String> = shares.map(|source| format!("{} {}", source.source, share(source.tokens))).collect();
        context.note(format!(
            "{} of {} tokens: {} has no more examples; the shares are {}",
            mixture.tokens,
            mixture.budget,
            ended.source,
            shares.join(", ")
        ));
    }
}
