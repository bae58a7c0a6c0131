//! Gated DeltaNet with negative and with positive eigenvalues.

use super::{check_counts, l2, sized};

#[test]
fn names_shapes_and_counts_are_those_of_table_4() {
    check_counts("gated_deltanet", "gdn_neg");
    check_counts("gated_deltanet_pos", "gdn_pos");
}

#[test]
fn only_decays_are_exempt_from_weight_decay() {
    let network = sized("gated_deltanet", "d256/l2");
    for declared in network.layout().parameters() {
        let exempt = declared.name.ends_with("A_log") || declared.name.ends_with("dt_bias");
        assert_eq!(declared.decays, !exempt, "{}", declared.name);
    }
}

#[test]
fn initial_weights_have_the_spreads_of_the_authors() {
    let network = sized("gated_deltanet", "d512/l6");
    let weights = network.initial_weights(1);
    let (mut rates, mut step_biases) = (Vec::new(), Vec::new());
    for (index, declared) in network.layout().parameters().iter().enumerate() {
        let (values, name) = (weights.get(index), declared.name.as_str());
        let deviation = l2(values) / (values.len() as f64).sqrt();
        match name.rsplit('.').next() {
            Some("A_log") => rates.extend(values.iter().map(|value| value.exp())),
            Some("dt_bias") => step_biases.extend_from_slice(values),
            Some("bias") => assert_eq!(deviation, 0.0, "{name}"),
            _ if name.contains("norm") => assert_eq!(deviation, 1.0, "{name}"),
            _ => assert!((deviation / 0.02 - 1.0).abs() < 0.1, "{name}: {deviation}"),
        }
    }
    // Uniform from 0 to 16: 48 draws.
    assert!(rates.iter().all(|rate| (0.0..16.0).contains(rate)));
    let mean = rates.iter().sum::<f32>() / rates.len() as f32;
    assert!((6.0..10.0).contains(&mean), "{mean}");
    let sizes: Vec<f32> = step_biases.iter().map(|bias| bias.exp().ln_1p()).collect();
    assert!(sizes.iter().all(|size| (0.000_99..0.101).contains(size)), "{sizes:?}");
}
