//! `device:`, which is in no key.

use cwm_contract::DeviceChoice;

use super::{cell, plan, plan_with};

/// A pipeline whose training has `more` beside `needs`.
fn pipeline(more: &str) -> String {
    format!(
        "cwm: 1
vars: {{ where: cuda:1 }}
stages:
  games: {{ stage: play, with: {{ policy: uniform }} }}
  corpus: {{ stage: parse, from: games }}
  tokens: {{ stage: tokenize, from: corpus }}
  model: {{ stage: train, from: {{ train: tokens.dataset }}, needs: {{ cpu: 1 }}{more} }}
"
    )
}

#[test]
fn a_device_is_read_with_its_variables_and_auto_is_what_nobody_wrote() {
    let device = |more: &str| cell(&plan(&pipeline(more)), "model").settings.device;
    assert_eq!(device(""), DeviceChoice::Auto);
    assert_eq!(device(", device: cpu"), DeviceChoice::Cpu);
    assert_eq!(device(", device: auto"), DeviceChoice::Auto);
    assert_eq!(device(", device: 'cuda:0'"), DeviceChoice::Cuda(0));
    assert_eq!(device(", device: 'wgpu:1'"), DeviceChoice::Wgpu(1));
    assert_eq!(device(", device: $where"), DeviceChoice::Cuda(1));
    let by_axis = plan(&pipeline(", matrix: { on: [cpu, 'cuda:3'] }, device: $on"));
    assert_eq!(cell(&by_axis, "model[on=cpu]").settings.device, DeviceChoice::Cpu);
    assert_eq!(cell(&by_axis, "model[on=cuda:3]").settings.device, DeviceChoice::Cuda(3));
}

#[test]
fn what_is_no_device_is_refused_where_it_stands_with_what_was_meant() {
    let refused = |text: &str| plan_with(text, &[]).unwrap_err().to_string();
    let message = refused(&pipeline(", device: cuda0"));
    assert!(message.contains("`device` must be auto, cpu or a GPU by number such as cuda:0, not cuda0"), "{message}");
    assert!(message.contains("did you mean `cuda:0`?") && message.contains(":7:"), "{message}");
    let message = refused(&pipeline(", device: 3"));
    assert!(
        message.contains("such as cuda:0, not 3") && message.contains("`cwm model devices` lists them"),
        "{message}"
    );
    let message = refused(&pipeline(", device: [cpu]"));
    assert!(message.contains("`device` must be auto"), "{message}");
    let message = refused(&pipeline("").replace("stage: parse,", "stage: parse, device: cpu,"));
    assert!(message.contains("`parse` stages compute on the CPU alone"), "{message}");
    let message = refused("cwm: 1\nstages:\n  a: { stage: command, with: { run: x }, device: cpu }\n");
    assert!(message.contains("a command has no `device`") && message.contains("CUDA_VISIBLE_DEVICES"), "{message}");
    let message = refused(&pipeline(", devise: cpu"));
    assert!(message.contains("did you mean `device`?"), "{message}");
}
