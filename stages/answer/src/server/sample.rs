//! A probe of the player `server` without a server: what it would send, and what it reads of responses.

use std::time::Duration;

use cwm_contract::{Failure, ProbeOutput};

use super::attempt::read;
use super::key::ServerKey;
use super::lines::Lines;
use super::request::Requests;
use crate::config::Config;
use crate::question::{Prompt, digest};

/// Responses as servers of several kinds send them.
const RESPONSES: [&str; 5] = [
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],\"model\":\"a\"}\n\n: wait\n\
     data: {\"choices\":[{\"delta\":{\"reasoning\":\"so \",\"reasoning_details\":[{\"text\":\"so \"}]}}]}\r\n\
     data: {\"choices\":[{\"delta\":{\"content\":\"FINAL ANSWER: \"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"e2e4\"}}]}\n\
     data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\
     \"completion_tokens\":5,\"total_tokens\":14,\"cost\":0.5,\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\
     data: [DONE]\n",
    " {\"model\":\"b\",\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\\ud83d x\"}]},\"finish_reason\":\"length\"}]}",
    "data: {\"choices\":[{\"delta\":{\"content\":\"e2\"}}]}\n",
    "{\"error\":{\"message\":\"This model's maximum context length is 8\",\"code\":\"context_length_exceeded\"}}",
    "{\"choices\":[]}",
];

/// The bytes of the requests for these prompts, and what is read of some responses.
///
/// # Errors
/// A value of `extra` cannot be sent.
pub fn probe(config: &Config, prompts: &[Prompt]) -> Result<ProbeOutput, Failure> {
    let requests = Requests::new(config)?;
    let mut probed = ProbeOutput::new();
    for (number, prompt) in prompts.iter().enumerate() {
        let text = format!("{:?} {}", digest(requests.identity(prompt).as_bytes()), requests.body(prompt));
        probed.insert(format!("run/request-{number}"), text.into_bytes());
    }
    for (number, response) in RESPONSES.into_iter().enumerate() {
        let mut lines = Lines::new(response.as_bytes(), 10_000, Duration::from_secs(3_600));
        let read = read(&mut lines, 10_000, &ServerKey::none());
        probed.insert(format!("run/response-{number}"), format!("{read:?}").into_bytes());
    }
    Ok(probed)
}
