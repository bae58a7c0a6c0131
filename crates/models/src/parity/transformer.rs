//! The Transformer.

use super::{check_counts, l2, sized};
use crate::parameters::Role;

#[test]
fn names_shapes_and_counts_are_those_of_table_4() {
    check_counts("transformer", "transformer");
}

#[test]
fn initial_weights_have_the_spreads_of_the_authors() {
    let network = sized("transformer", "d128/l1");
    let weights = network.initial_weights(1);
    assert_eq!(weights.values(), network.initial_weights(1).values());
    assert_ne!(weights.values(), network.initial_weights(2).values());
    for (index, declared) in network.layout().parameters().iter().enumerate() {
        let values = weights.get(index);
        let deviation = l2(values) / (values.len() as f64).sqrt();
        let inputs = if declared.name.contains("mlp.out_proj") { 512.0f64 } else { 128.0 };
        let expected = match declared.role {
            Role::Embedding { .. } => 1.0,
            Role::Dense if declared.name.contains("norm") => 1.0,
            Role::Dense => 1.0 / (3.0 * inputs).sqrt(),
        };
        assert!(
            (deviation / expected - 1.0).abs() < 0.2,
            "{}: {deviation} where {expected} was expected",
            declared.name
        );
    }
}
