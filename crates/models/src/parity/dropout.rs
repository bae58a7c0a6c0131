//! Tests the places of dropout (models.md §1.6).

use crate::counter_rng::CounterRng;
use crate::{DeviceWeights, ForwardPass, Tokens, device};

use super::sized;

/// Returns the number of dropouts in a training pass of a model of this size.
fn places(family: &str, size: &str) -> usize {
    let network = sized(family, size);
    let weights = network.initial_weights(1);
    let device_weights = DeviceWeights::new(&weights, &device::cpu());
    let rng = || CounterRng::new(5, 1, 0);
    let pass = ForwardPass::training(&device_weights, Some(rng()));
    let game: [u16; 3] = [20480, 5, 9];
    let _ = network.flat_logits(&pass, &Tokens::padded([game.as_slice()], 20481));
    // The pass hands out the keys of its rng in order.
    let next = pass.next_dropout(0.5).unwrap().key;
    let fresh = rng();
    (0..100).position(|_| fresh.next_key() == next).unwrap()
}

#[test]
fn dropout_is_in_as_many_places_as_in_the_authors_code() {
    for (family, once, each_layer) in [
        // The embedding; attention's probabilities and output, and the MLP's output.
        ("transformer", 1, 3),
        // The embedding; both branches.
        ("slice", 1, 2),
        ("slice_diag", 1, 2),
        // The embedding alone.
        ("mamba2", 1, 0),
        ("mamba3", 1, 0),
        ("mamba3_mimo", 1, 0),
        // As the Transformer.
        ("gpt", 1, 3),
        // The authors' argument is discarded.
        ("gated_deltanet", 0, 0),
        ("gated_deltanet_pos", 0, 0),
    ] {
        assert_eq!(places(family, "d128/l1"), once + each_layer, "{family}");
        assert_eq!(places(family, "d128/l3"), once + 3 * each_layer, "{family}");
    }
}
