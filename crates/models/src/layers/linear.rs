//! Affine maps.

use burn::tensor::Tensor;

use crate::Pass;
use crate::parameters::{Declaration, Init, Scope, Slot};

/// y = W x + b with `weight` [out, in] and, if any, `bias` [out].
///
/// It works on rows, [batch * time, in]: a batch axis of its own would send Burn on a slower route.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    weight: Slot<2>,
    bias: Option<Slot<1>>,
}

impl Linear {
    /// Declares weight and bias with PyTorch's default initialisation, uniform within 1/√in for both.
    pub fn declare(scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Self {
        Self::declare_with(scope, inputs, outputs, Init::linear(inputs), Some(Init::linear(inputs)))
    }

    /// Declares weight and, if `bias` is given, bias with initialisations of the caller's.
    pub fn declare_with(
        scope: &mut Scope<'_>,
        inputs: usize,
        outputs: usize,
        weight: Init,
        bias: Option<Init>,
    ) -> Self {
        Linear {
            weight: scope.declare("weight", Declaration::new([outputs, inputs], weight)),
            bias: bias.map(|init| scope.declare("bias", Declaration::new([outputs], init))),
        }
    }

    /// [rows, in] to [rows, out].
    pub fn forward(&self, pass: &Pass, x: Tensor<2>) -> Tensor<2> {
        let y = x.matmul(pass.parameter(self.weight).transpose());
        match self.bias {
            Some(bias) => y + pass.parameter(bias).unsqueeze::<2>(),
            None => y,
        }
    }
}
