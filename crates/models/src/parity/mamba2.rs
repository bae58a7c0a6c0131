//! Mamba-2.

use super::{check_counts, l2, sized};

#[test]
fn names_shapes_and_counts_are_those_of_table_4() {
    check_counts("mamba2", "mamba2");
}

#[test]
fn initial_weights_have_the_spreads_of_the_authors() {
    let network = sized("mamba2", "d128/l1");
    let weights = network.initial_weights(1);
    for (index, declared) in network.layout().parameters().iter().enumerate() {
        let values = weights.get(index);
        let deviation = l2(values) / (values.len() as f64).sqrt();
        let uniform = |bound: f64| bound / 3f64.sqrt();
        let name = declared.name.as_str();
        let expected = match name.trim_start_matches("layers.0.") {
            "embedding.weight" => 0.02,
            "mixer.in_proj.weight" | "mlp.fc1.weight" | "output_head.weight" => uniform(128f64.powf(-0.5)),
            // Divided by the root of twice the number of layers.
            "mixer.out_proj.weight" => uniform(256f64.powf(-0.5)) / 2f64.sqrt(),
            "mlp.fc2.weight" => uniform(512f64.powf(-0.5)) / 2f64.sqrt(),
            "mixer.conv1d.weight" | "mixer.conv1d.bias" => uniform(0.5),
            "mixer.A_log" => {
                assert!(values.iter().all(|value| (0.0..=16f32.ln()).contains(value)), "{values:?}");
                continue;
            }
            // Inverse softplus of step sizes from 0.001 to 0.1.
            "mixer.dt_bias" => {
                assert!(values.iter().all(|value| (-6.91..-2.25).contains(value)), "{values:?}");
                continue;
            }
            "output_head.bias" => {
                assert_eq!(deviation, 0.0);
                continue;
            }
            other => {
                assert!(
                    other == "mixer.D" || other.ends_with("norm.weight") || other.ends_with("norm2.weight"),
                    "{other}"
                );
                assert!(values.iter().all(|&value| value == 1.0), "{other}");
                continue;
            }
        };
        assert!((deviation / expected - 1.0).abs() < 0.1, "{name}: {deviation} where {expected} was expected");
    }
}
