//! Mamba-3, SISO and MIMO.

use super::{check_counts, l2, sized};

#[test]
fn names_shapes_and_counts_are_those_of_the_authors() {
    // The paper's Table 4 has the counts of SISO.
    check_counts("mamba3", "ALT_mamba3_siso_config_default");
    check_counts("mamba3_mimo", "mamba3_mimo4");
}

#[test]
fn initial_weights_have_the_spreads_of_the_authors() {
    for family in ["mamba3", "mamba3_mimo"] {
        let network = sized(family, "d256/l2");
        let weights = network.initial_weights(1);
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let values = weights.get(index);
            let deviation = l2(values) / (values.len() as f64).sqrt();
            let uniform = |inputs: f64| (3.0 * inputs).powf(-0.5);
            let name = declared.name.rsplit_once("layers.").map_or(declared.name.as_str(), |(_, name)| &name[2..]);
            let expected = match name {
                "embedding.weight" => 0.02,
                "mixer.in_proj.weight" | "mlp.fc1.weight" | "output_head.weight" => uniform(256.0),
                // Divided by the root of twice the number of layers.
                "mixer.out_proj.weight" => uniform(512.0) / 2.0,
                "mlp.fc2.weight" => uniform(1024.0) / 2.0,
                // Inverse softplus of step sizes from 0.001 to 0.1.
                "mixer.dt_bias" => {
                    assert!(values.iter().all(|value| (-6.91..-2.25).contains(value)), "{values:?}");
                    continue;
                }
                "output_head.bias" => 0.0,
                "mixer.mimo_x" | "mixer.mimo_o" => 0.25,
                other => {
                    let known = ["mixer.D", "mixer.B_bias", "mixer.C_bias", "mixer.mimo_z"];
                    assert!(known.contains(&other) || other.contains("norm"), "{other}");
                    assert!(values.iter().all(|&value| value == 1.0), "{other}");
                    continue;
                }
            };
            assert!(
                (deviation - expected).abs() <= 0.1 * expected,
                "{name}: {deviation} where {expected} was expected"
            );
        }
    }
}
