use std::process::Command;

use super::*;
use crate::testing::{assert_close, random, values};

const SHAPE: (usize, usize, usize) = (9, 24, 13);

/// Rows, weight, bias, and the gradient of the output.
fn operands(deviation: f64) -> [Vec<f32>; 4] {
    let (rows, inputs, outputs) = SHAPE;
    [
        values(&random::<2>([rows, inputs], 1, deviation)),
        values(&random::<2>([outputs, inputs], 2, deviation)),
        values(&random::<1>([outputs], 3, deviation)),
        values(&random::<2>([rows, outputs], 4, deviation)),
    ]
}

fn tensor<const D: usize>(values: &[f32], shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(burn::tensor::TensorData::new(values.to_vec(), shape), &crate::device::cpu())
}

/// Output, and the gradients of rows, weight and bias.
fn computed([x, weight, bias, pull]: &[Vec<f32>; 4], precision: Precision) -> [Vec<f32>; 4] {
    let (rows, inputs, outputs) = SHAPE;
    let x = tensor(x, [rows, inputs]).autodiff().require_grad();
    let weight = tensor(weight, [outputs, inputs]).autodiff().require_grad();
    let bias = tensor(bias, [outputs]).autodiff().require_grad();
    let y = linear(x.clone(), weight.clone(), Some(bias.clone()), precision);
    let gradients = (y.clone() * tensor(pull, [rows, outputs])).sum().backward();
    [
        values(&y),
        values(&x.grad(&gradients).unwrap()),
        values(&weight.grad(&gradients).unwrap()),
        values(&bias.grad(&gradients).unwrap()),
    ]
}

#[test]
fn strict_f32_is_burns_own_product() {
    let all = operands(1.0);
    let (rows, inputs, outputs) = SHAPE;
    let y = tensor(&all[0], [rows, inputs]).matmul(tensor(&all[1], [outputs, inputs]).transpose())
        + tensor(&all[2], [outputs]).unsqueeze::<2>();
    assert_eq!(computed(&all, Precision::Fp32)[0], values(&y));
}

#[test]
fn operands_are_rounded_forward_and_backward() {
    let all = operands(1.0);
    let rounded = all.clone().map(|mut values| {
        Precision::Tf32.round(&mut values);
        values
    });
    // In TF32 the bias is no operand, nor are the terms of its gradient.
    let exact = [rounded[0].clone(), rounded[1].clone(), all[2].clone(), rounded[3].clone()];
    let (found, mut expected) = (computed(&all, Precision::Tf32), computed(&exact, Precision::Fp32));
    expected[3] = computed(&all, Precision::Fp32)[3].clone();
    for (found, expected) in found.iter().zip(&expected) {
        assert_close(found, expected, 2e-6);
    }
}

#[test]
fn errors_are_of_the_size_of_the_roundings() {
    let all = operands(1.0);
    let strict = computed(&all, Precision::Fp32);
    for (precision, unit) in [(Precision::Tf32, 2f32.powi(-11)), (Precision::Bf16, 2f32.powi(-8))] {
        for (found, strict) in computed(&all, precision).iter().zip(&strict).take(3) {
            let size = |values: &mut dyn Iterator<Item = f32>| values.map(|value| value * value).sum::<f32>().sqrt();
            let far = size(&mut found.iter().zip(strict).map(|(a, b)| a - b)) / size(&mut strict.iter().copied());
            assert!((0.2 * unit..3.0 * unit).contains(&far), "{precision}: {far}");
        }
    }
}

#[test]
fn what_is_not_finite_is_not_hidden() {
    let mut all = operands(1.0);
    all[0][5] = f32::NAN;
    all[0][30] = f32::INFINITY;
    for precision in [Precision::Tf32, Precision::Bf16] {
        let [y, _, _, _] = computed(&all, precision);
        assert!(y[..SHAPE.2].iter().all(|value| value.is_nan()));
        assert!(y[SHAPE.2..2 * SHAPE.2].iter().all(|value| !value.is_finite()));
        assert!(y[2 * SHAPE.2..].iter().all(|value| value.is_finite()));
    }
}

/// Numbers k/64, of which any sum of products is exact in f32: no order of addition changes a bit, and what differs from
/// f32 are roundings alone.
fn dyadic() -> [Vec<f32>; 4] {
    operands(300.0).map(|values| values.iter().map(|value| value.round() / 64.0).collect())
}

#[test]
fn bf16_is_what_pytorchs_autocast_makes_of_a_linear_layer() {
    let all = dyadic();
    let (rows, inputs, outputs) = SHAPE;
    let list = |values: &[f32]| format!("{values:?}");
    let script = format!(
        "import torch, json\n\
         t = lambda v, *s: torch.tensor(v, dtype=torch.float32).reshape(s).requires_grad_()\n\
         x, w, b = t({}, {rows}, {inputs}), t({}, {outputs}, {inputs}), t({}, {outputs})\n\
         with torch.autocast('cpu', dtype=torch.bfloat16):\n    \
             y = torch.nn.functional.linear(x, w, b)\n\
         assert y.dtype == torch.bfloat16\n\
         (y.float() * torch.tensor({}).reshape({rows}, {outputs})).sum().backward()\n\
         print(json.dumps([v.detach().float().flatten().tolist() for v in (y, x.grad, w.grad, b.grad)]))",
        list(&all[0]),
        list(&all[1]),
        list(&all[2]),
        list(&all[3]),
    );
    let python = std::env::var_os("CWM_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python).args(["-c", &script]).output();
    let output = match output {
        Ok(output) if output.status.success() => output.stdout,
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("ModuleNotFoundError") => {
            panic!("{}", String::from_utf8_lossy(&output.stderr))
        }
        _ => return eprintln!("skipped: no Python with torch (set CWM_PYTHON)"),
    };
    let expected: [Vec<f32>; 4] = serde_json::from_slice(&output).unwrap();
    let found = computed(&all, Precision::Bf16);
    let strict = computed(&all, Precision::Fp32);
    for ((found, expected), strict) in found.iter().zip(&expected).zip(&strict) {
        assert_eq!(found, expected);
        assert_ne!(found, strict, "the numbers are too short to show a rounding");
    }
}

#[cfg(feature = "gpu")]
#[test]
fn a_gpu_agrees_with_the_processor() {
    let (rows, inputs, outputs) = (300, 24, 70);
    let of = |seed, len| random::<1>([len], seed, 1.0);
    crate::testing::assert_gpu_agrees(
        [of(1, rows * inputs), of(2, outputs * inputs), of(3, outputs)],
        1e-5,
        |[x, weight, bias]| {
            let (x, weight) = (x.reshape([rows, inputs]), weight.reshape([outputs, inputs]));
            linear(x, weight, Some(bias), Precision::Fp32).flatten(0, 1)
        },
    );
}

/// Both forms of several products of one input, beside one product with the weights below each other.
fn in_parts<const N: usize>(x: &Tensor<2>, weights: &[Tensor<2>; N]) -> [[Tensor<2>; N]; 2] {
    let widths = weights.each_ref().map(|weight| weight.dims()[0]);
    let all = Tensor::cat(weights.to_vec(), 0);
    [linears(x.clone(), weights.clone(), Precision::Fp32), linear_parts(x.clone(), all, widths, Precision::Fp32)]
}

#[test]
fn parts_are_columns_of_the_whole() {
    let x = random::<2>([9, 24], 1, 1.0);
    let weights = [5, 64, 1].map(|outputs| random::<2>([outputs, 24], outputs as u64, 1.0));
    let whole = linear(x.clone(), Tensor::cat(weights.to_vec(), 0), None, Precision::Fp32);
    for parts in in_parts(&x, &weights) {
        assert_close(&values(&Tensor::cat(parts.to_vec(), 1)), &values(&whole), 1e-5);
    }
}

#[cfg(feature = "gpu")]
#[test]
fn a_gpu_agrees_with_the_processor_about_parts() {
    let (rows, inputs, outputs) = (300, 24, [70, 1, 5]);
    let of = |seed, len| random::<1>([len], seed, 1.0);
    let [a, b, c] = outputs.map(|outputs| of(outputs as u64, outputs * inputs));
    for form in 0..2 {
        let inputs_of_all = [of(1, rows * inputs), a.clone(), b.clone(), c.clone()];
        crate::testing::assert_gpu_agrees(inputs_of_all, 1e-5, |[x, a, b, c]| {
            let mut outputs = outputs.into_iter();
            let weights = [a, b, c].map(|weight| weight.reshape([outputs.next().unwrap(), inputs]));
            let parts = in_parts(&x.reshape([rows, inputs]), &weights);
            Tensor::cat(parts[form].clone().map(|part| part.flatten::<1>(0, 1)).to_vec(), 0)
        });
    }
}
