//! Whole models of the family.

use std::collections::BTreeMap;

use crate::heads::labels;
use crate::testing::{both_implementations, values};
use crate::{Architecture, DeviceWeights, ForwardPass, Tokens, device};

/// A decay that is held at its least is the same however small it would have been, in every form of the model.
#[test]
fn decays_below_the_least_are_the_least() {
    for family in ["mamba3", "mamba3_mimo"] {
        let network = labels::network(Architecture {
            family: family.to_owned(),
            size: "d32/l1".parse().unwrap(),
            vocabulary: 40,
            dropout: 0.0,
            options: BTreeMap::from([("head_width", "16"), ("state", "8")].map(|(k, v)| (k.to_owned(), v.to_owned()))),
        })
        .unwrap();
        let index = |name: &str| network.layout().find(name).unwrap_or_else(|| panic!("no {name}"));
        let projection = index("layers.0.mixer.in_proj.weight");
        let (heads, angles, width) = (4, 2, 32);
        let rates = network.layout().parameters()[projection].shape[0] - 3 * heads - angles;
        let of = |raw: f32| {
            let mut weights = network.initial_weights(1);
            // All channels positive, so that this row gives every step nearly the same: -softplus of it would be from
            // -3e-5 on, where -1e-4 is the least.
            weights.get_mut(index("embedding.weight")).iter_mut().for_each(|x| *x = x.abs() + 0.05);
            weights.get_mut(projection)[(rates + heads) * width..][..heads * width].fill(raw / width as f32);
            weights.get_mut(projection)[(rates + 3 * heads) * width..].fill(0.0);
            // Long steps, so that the least decay shows.
            weights.get_mut(index("layers.0.mixer.dt_bias")).fill(20.0);
            let game: Vec<u16> = (0..24).map(|t| t * 7 % 39).collect();
            let tokens = Tokens::padded([game.as_slice()], 39);
            let device_weights = DeviceWeights::new(&weights, &device::cpu());
            let [kernel, decomposed] = both_implementations(|| {
                values(&network.flat_logits(&ForwardPass::evaluation(&device_weights), &tokens))
            });
            let model = network.recurrent().unwrap();
            let mut memory = model.start(&weights);
            let steps: Vec<f32> =
                game.iter().flat_map(|&token| model.step(&weights, &mut memory, token.into())).collect();
            [kernel, decomposed, steps]
        };
        let (held, further, free) = (of(-13.0), of(-60.0), of(-6.0));
        for form in 0..3 {
            let apart = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert_eq!(apart(&held[form], &further[form]), 0.0, "{family}, form {form}");
            assert!(apart(&held[form], &free[form]) > 1e-3, "{family}, form {form}: decays do not show");
            assert!(apart(&held[form], &held[0]) < 1e-4, "{family}, form {form}: {}", apart(&held[form], &held[0]));
        }
    }
}
