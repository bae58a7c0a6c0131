//! Gated DeltaNet with negative and with positive eigenvalues.

use super::{Case, check, check_counts, check_trace, l2, sized, worst_logit};

const SMALL: &[(&str, &str)] = &[("heads", "2"), ("key_width", "12")];
const NEGATIVE: Case = Case { fixture: "gdn_neg-tiny", family: "gated_deltanet", options: SMALL };
const POSITIVE: Case = Case { fixture: "gdn_pos-tiny", family: "gated_deltanet_pos", options: SMALL };

#[test]
fn gated_deltanet_tiny() {
    check(&NEGATIVE);
    check(&POSITIVE);
}

#[test]
fn gated_deltanet_d128() {
    check(&Case { fixture: "gdn_neg-d128", family: "gated_deltanet", options: &[] });
    check(&Case { fixture: "gdn_pos-d128", family: "gated_deltanet_pos", options: &[] });
}

#[test]
fn gated_deltanet_tiny_trains_as_the_authors_do() {
    check_trace(&NEGATIVE);
    check_trace(&POSITIVE);
}

#[test]
fn the_comparison_would_notice_the_other_sign() {
    let Some(other) = worst_logit(&Case { family: "gated_deltanet_pos", ..NEGATIVE }) else { return };
    assert!(other > 1e-3);
}

#[test]
fn names_shapes_and_counts_are_those_of_table_4() {
    check_counts("gated_deltanet", "gdn_neg");
    check_counts("gated_deltanet_pos", "gdn_pos");
}

#[test]
fn only_decays_are_exempt_from_weight_decay() {
    let network = sized("gated_deltanet", "d256/l2");
    for declared in network.layout().declared() {
        let exempt = declared.name.ends_with("A_log") || declared.name.ends_with("dt_bias");
        assert_eq!(declared.decays, !exempt, "{}", declared.name);
    }
}

#[test]
fn initial_weights_have_the_spreads_of_the_authors() {
    let network = sized("gated_deltanet", "d512/l6");
    let weights = network.initial_weights(1);
    let (mut rates, mut step_biases) = (Vec::new(), Vec::new());
    for (index, declared) in network.layout().declared().iter().enumerate() {
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
