//! Log-probabilities before and after an update come from one function.

use cwm_models::{Architecture, DeviceWeights, ForwardPass, Network, device};
use cwm_policy_gradient::{Objective, Surrogate};
use cwm_reasoning::{ReasoningTask, RewardOptions};
use cwm_speech::COUNT;
use cwm_training::Objective as _;

use crate::micro_batch::MicroBatchOptions;
use crate::policy::Policy;
use crate::probe::{BOARDS, made_up_items};
use crate::questions::Question;
use crate::rollouts::{Group, Rollout};

#[test]
fn with_equal_weights_the_ratio_is_exactly_one_in_every_family() {
    let items = made_up_items(&BOARDS, &ReasoningTask::ALL).unwrap();
    let form = cwm_speech::PositionForm::Pieces;
    let questions: Vec<Question> = items.iter().map(|item| Question::new(item, form).unwrap()).collect();
    for family in ["transformer", "gpt", "slice", "mamba2", "mamba3", "gated_deltanet"] {
        let options = if family == "gpt" { [("positions".into(), "48".into())].into() } else { Default::default() };
        let (vocabulary, dropout) = (usize::from(COUNT), 0.1);
        let size = "d64/l2".parse().unwrap();
        let architecture = Architecture { family: family.into(), size, vocabulary, dropout, options };
        let network = Network::build(architecture, vocabulary).unwrap();
        let weights = network.initial_weights(3);
        let policy = Policy { network, surrogate: Surrogate { clip_low: 0.2, clip_high: 0.28, kl: 0.0 } };
        // Answers of several lengths, without a meaning.
        let answer = |question: usize, number: usize| {
            let words: Vec<u16> = (0..2 + (question + 3 * number) % 7)
                .map(|t| ((question * 31 + number * 7 + t * 11) % usize::from(COUNT)) as u16)
                .collect();
            let mut judgement = questions[question].verifier.judge("", &RewardOptions::default());
            judgement.reward = (question * 5 + number * 3 % 4) as f64 / 10.0;
            Rollout { text: String::new(), words, judgement }
        };
        let group = |question: usize| Group {
            question: &questions[question],
            rollouts: (0..4).map(|number| answer(question, number)).collect(),
        };
        let groups: Vec<Group<'_>> = (0..6).map(group).collect();
        let micro_batch_options =
            MicroBatchOptions { objective: Objective::DrGrpo, max_tokens: 9, micro_batch_tokens: 120, padding: 0 };
        let mut update = micro_batch_options.update(&groups);
        assert!(update.with_signal.len() > 2 && update.without_signal.is_empty(), "{}", update.with_signal.len());
        let device = device::cpu();
        let device_weights = DeviceWeights::new(&weights, &device);
        for batch in &mut update.with_signal {
            batch.old = policy.measure(&device_weights, batch).log_probabilities;
            let pass = ForwardPass::training(&device_weights, None);
            let losses = policy.loss(&pass, batch, 0).rows().clone().into_data();
            let losses = losses.as_slice::<f32>().unwrap();
            assert!(losses.iter().any(|loss| *loss != 0.0));
            for ((loss, advantage), weight) in losses.iter().zip(&batch.advantages).zip(&batch.weights) {
                assert_eq!(loss.to_bits(), (-advantage * weight).to_bits(), "{family}");
            }
        }
    }
}
