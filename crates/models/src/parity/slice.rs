//! SLiCE, block-diagonal and diagonal.

use super::{check_counts, l2, sized};

#[test]
fn names_shapes_and_counts_are_those_of_table_4() {
    check_counts("slice", "slice_bd8");
    check_counts("slice_diag", "slice_diag");
}

#[test]
fn initial_weights_have_the_spreads_of_the_authors() {
    for (family, block) in [("slice", 8.0f64), ("slice_diag", 1.0)] {
        let network = sized(family, "d128/l1");
        let weights = network.initial_weights(1);
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            let values = weights.get(index);
            let deviation = l2(values) / (values.len() as f64).sqrt();
            let expected = match declared.name.as_str() {
                "embedding.weight" => 1.0,
                name if name.contains("norm") => 1.0,
                name if name.ends_with("vf_A.weight") => 0.1 / block.sqrt(),
                name if name.contains("slice") => 0.1,
                name if name.contains("token_mlp.2") => 1.0 / (3.0 * 512.0f64).sqrt(),
                _ => 1.0 / (3.0 * 128.0f64).sqrt(),
            };
            assert!(
                (deviation / expected - 1.0).abs() < 0.2,
                "{family}: {}: {deviation} where {expected} was expected",
                declared.name
            );
        }
    }
}
