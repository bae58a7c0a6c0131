//! Parameters of `answer`.

use std::collections::BTreeMap;

use cwm_answers::is_cost;
use cwm_contract::{ParameterError, SourceFile, Type, Value, parameters};
use cwm_questions::prompt::{PromptContext, Variant};
use cwm_questions::truth::Keys;
use cwm_uci::check_program;

parameters! {
    /// The player, the prompts and requests of a model, and the limits of its server.
    pub struct Config {
        /// The source of the answers: a model behind a `server`; the `oracle`, which gives the key; `random`, a legal move, an
        /// option, or an empty list, and of graded items any candidate, or half of a list; `rules`, which computes what rules can
        /// and else takes the best capture or counts material; `engine`, as `rules`, but with an engine's moves and evaluations;
        /// `world_model`, the rules on the boards that a world model predicts.
        pub player: String = "server".into(),
            kind = Type::Choice(&["server", "oracle", "random", "rules", "engine", "world_model"]),
        /// The model, as the server names it.
        pub model: Option<String> = None,
        /// The name of this run in tables. Without it, that of the model or the player.
        pub name: Option<String> = None,
        /// The server's API, up to and without `/chat/completions`: of OpenAI, OpenRouter, vLLM, llama.cpp, Ollama and others.
        pub url: String = "http://127.0.0.1:8080/v1".into(),
        /// The name of the environment variable that holds the server's key. If it is not set, no key is sent.
        pub key_variable: String = "OPENAI_API_KEY".into(),
        /// The content of a prompt beside the position: nothing, the pieces, or the pieces and all legal moves (that of the
        /// release).
        pub context: String = "none".into(), kind = Type::Choice(&["none", "pieces", "pieces_moves"]),
        /// The number, 1 or 2, of the example of an answer's form in a prompt.
        pub examples: u64 = 1, kind = Type::Integer { min: 1, max: 2 },
        /// The most tokens of an answer.
        pub max_tokens: u64 = 8_192, kind = Type::Integer { min: 1, max: 10_000_000 },
        /// The name of `max_tokens` in the request: some models of OpenAI want the second.
        pub max_tokens_field: String = "max_tokens".into(), kind = Type::Choice(&["max_tokens", "max_completion_tokens"]),
        /// Temperature of sampling. Without it, none is sent, and the server's default holds. The player `engine` answers graded
        /// items by it: a move with a weight of exp(v / temperature) by its win probability v; without it, the best move.
        pub temperature: Option<f64> = None,
        /// The effort that is sent as `reasoning_effort`; `none` sends nothing. Servers with another switch take it by `extra`.
        pub reasoning: String = "none".into(), kind = Type::Choice(&["none", "low", "medium", "high"]),
        /// More fields of the request, such as `{ reasoning: { effort: medium }, usage: { include: true } }` of OpenRouter or
        /// `{ chat_template_kwargs: { enable_thinking: true } }` of vLLM.
        pub extra: BTreeMap<String, Value> = BTreeMap::new(),
        /// Questions that are open at the same time.
        pub connections: u64 = 4, kind = Type::Integer { min: 1, max: 1_024 },
        /// The most requests a minute, attempts included.
        pub requests_per_minute: Option<u64> = None,
        /// Attempts at a question, the first included.
        pub attempts: u64 = 6, kind = Type::Integer { min: 1, max: 100 },
        /// Seconds without a byte of content after which an attempt has failed.
        pub timeout: u64 = 600, kind = Type::Integer { min: 1, max: 86_400 },
        /// Dollars after which no further question is asked. Those that are open are still paid. What each answer cost is what
        /// the server reports, otherwise its tokens by `prices`.
        pub budget: Option<f64> = None,
        /// Dollars per million tokens: `{ input: 0.25, output: 2 }`. For `budget` alone.
        pub prices: BTreeMap<String, f64> = BTreeMap::new(),
        /// The effect of a question that has no answer after all attempts, or is too long for the model: `fail` ends the stage
        /// and keeps the other answers, `count` writes an empty answer with its `fault`.
        pub on_error: String = "fail".into(), kind = Type::Choice(&["fail", "count"]),
        /// The keys that `rules`, `engine` and `world_model` compute of Structural tasks and Motifs: those of the `published` items,
        /// or the `sound` ones of items that were built so.
        pub keys: String = "published".into(), kind = Type::Choice(&["published", "sound"]),
        /// A program that speaks UCI, of the player `engine`, such as /usr/games/stockfish (`apt-get install stockfish`). Its bytes
        /// are part of the key. Without one, our own engine answers, which is weaker.
        pub engine: Option<SourceFile> = None,
        /// Nodes that the program searches in each position.
        pub nodes: u64 = 200_000, kind = Type::Integer { min: 1, max: 1_000_000_000_000 },
        /// Plies that our own engine looks ahead before it follows captures, in place of `nodes`.
        pub depth: u32 = 3, kind = Type::Integer { min: 1, max: 4 },
        /// The number of answers to each item.
        pub samples: u64 = 1, kind = Type::Integer { min: 1, max: 1_000 },
        /// Seed of the player `random`, and of `engine` with a `temperature`.
        pub seed: u64 = 0,
    }
}

/// Parameters that a server's answers do not depend on.
const TRANSPORT_PARAMETERS: [&str; 9] = [
    "url",
    "key_variable",
    "connections",
    "requests_per_minute",
    "attempts",
    "timeout",
    "budget",
    "prices",
    "on_error",
];

/// Parameters of the requests to a server.
const REQUEST_PARAMETERS: [&str; 6] = ["model", "max_tokens", "max_tokens_field", "temperature", "reasoning", "extra"];

/// Fields of a request that `extra` must leave alone.
const OWN_FIELDS: [&str; 8] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "reasoning_effort",
];

impl Config {
    /// The parameters that have no effect, or no effect on the answers, with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let mut unused = TRANSPORT_PARAMETERS.to_vec();
        if !self.is_server() {
            unused.extend(REQUEST_PARAMETERS);
        }
        let is_tempered = self.player == "engine" && self.temperature.is_some();
        unused.retain(|name| *name != "temperature" || !is_tempered);
        if self.player != "random" && !is_tempered {
            unused.push("seed");
        }
        if self.samples == 1 {
            unused.push("samples");
        }
        if !matches!(&*self.player, "rules" | "engine" | "world_model") {
            unused.push("keys");
        }
        match (&*self.player, &self.engine) {
            ("engine", Some(_)) => unused.push("depth"),
            ("engine", None) => unused.push("nodes"),
            _ => unused.extend(["engine", "nodes", "depth"]),
        }
        unused
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        let mut check = |is_right: bool, parameter: &str, message: &str| {
            if !is_right {
                errors.push(ParameterError::new(parameter, message));
            }
        };
        let is_positive = |number: f64| number.is_finite() && number > 0.0;
        if self.is_server() {
            let is_named = self.model.as_ref().is_some_and(|model| !model.trim().is_empty());
            check(is_named, "model", "must be given for `player: server`: the model's name on the server");
            if let Err(wrong) = check_url(&self.url) {
                check(false, "url", wrong);
            }
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let is_variable = self.key_variable.chars().all(is_part) && !self.key_variable.is_empty();
            check(is_variable, "key_variable", "must be the name of an environment variable, and not the key itself");
        }
        check(self.requests_per_minute != Some(0), "requests_per_minute", "must be at least 1");
        check(self.budget.is_none_or(is_positive), "budget", "must be dollars above 0");
        let temperature = self.temperature.is_none_or(|temperature| temperature.is_finite() && temperature >= 0.0);
        check(temperature, "temperature", "must be a number of at least 0");
        let has_prices = self.prices.is_empty() || self.prices.keys().eq(["input", "output"]);
        check(has_prices, "prices", "must have `input` and `output`, in dollars per million tokens, and nothing else");
        let are_prices = self.prices.values().all(|price| is_cost(*price));
        check(are_prices, "prices", "must be dollars from 0 to 1e9");
        for field in OWN_FIELDS.iter().filter(|field| self.extra.contains_key(**field)) {
            let message = format!("must not have `{field}`, which other parameters set");
            errors.push(ParameterError::new("extra", message));
        }
        // A missing program is reported where it is about to be read.
        if let Some(engine) = self.engine.as_ref().filter(|engine| self.player == "engine" && engine.0.exists())
            && let Err(failure) = check_program(&engine.0)
        {
            let message = format!("cannot be used: {}", failure.message);
            errors.push(ParameterError::new("engine", message).maybe_hint(failure.hint));
        }
        errors
    }

    /// Checks the inputs that the player needs.
    pub fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        match (&*self.player, inputs.contains(&"predictions"), inputs.contains(&"known")) {
            ("world_model", false, _) => Some("needs the input `predictions` for `player: world_model`".to_owned()),
            (player, true, _) if player != "world_model" => {
                Some(format!("has the input `predictions`, which `player: {player}` does not read"))
            }
            (player, _, true) if player != "server" => {
                Some(format!("has the input `known`, which `player: {player}` does not read"))
            }
            _ => None,
        }
    }

    /// True if a model behind a server answers.
    pub fn is_server(&self) -> bool {
        self.player == "server"
    }

    /// The keys that rules compute.
    pub fn keys(&self) -> Keys {
        if self.keys == "sound" { Keys::Sound } else { Keys::Published }
    }

    /// The variant of the prompts.
    pub fn variant(&self) -> Variant {
        let context = PromptContext::of_name(&self.context).unwrap_or_default();
        Variant { context, second_example: self.examples == 2 }
    }

    /// The name of this run in tables.
    pub fn run_name(&self) -> &str {
        let model = self.model.as_deref().filter(|_| self.is_server());
        self.name.as_deref().or(model).unwrap_or(&self.player)
    }
}

/// Checks the URL of a server; it is written into work folders, so it holds no secret.
fn check_url(url: &str) -> Result<(), &'static str> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let rest = rest.ok_or("must begin with http:// or https://")?;
    if rest.split('/').next().is_none_or(|host| host.is_empty() || host.contains('@')) {
        return Err("must name a host, without a user name or password");
    }
    if url.contains(['?', '#']) || url.contains(char::is_whitespace) {
        return Err("must have no query, no fragment and no white space");
    }
    Ok(())
}
