//! The multilayer perceptron 784-512-256-10 with its training step.

use crate::inputs::uniform;
use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Result};

/// Sizes from the pixels to the classes.
pub const WIDTHS: [usize; 4] = [784, 512, 256, 10];

/// The rule of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Learning rate 0.01.
    Sgd,
    /// Learning rate 0.001, decay rates 0.9 and 0.999, epsilon 1e-8 (Kingma and Ba, 2015).
    Adam,
}

/// A network in training.
pub struct Trainer {
    rule: Rule,
    start: Vec<Tensor>,
    /// Weight (out, in) and bias of each layer.
    parameters: Vec<Tensor>,
    moments: Vec<[Tensor; 2]>,
    steps: i32,
}

impl Trainer {
    pub fn new(rule: Rule) -> Result<Trainer> {
        let mut start = vec![];
        for (layer, sizes) in WIDTHS.windows(2).enumerate() {
            let (fan_in, fan_out, seed) = (sizes[0], sizes[1], 10 + 2 * layer as u64);
            let k = (fan_in as f64).powf(-0.5);
            start.push(uniform(seed, &[fan_out, fan_in], -k, k)?);
            start.push(uniform(seed + 1, &[fan_out], -k, k)?);
        }
        let mut trainer = Trainer { rule, start, parameters: vec![], moments: vec![], steps: 0 };
        trainer.reset()?;
        Ok(trainer)
    }

    /// Puts parameters and optimiser state back to where they began.
    pub fn reset(&mut self) -> Result<()> {
        let (mut parameters, mut moments) = (vec![], vec![]);
        for start in &self.start {
            parameters.push(start.copy().requires_grad_(true)?);
            if self.rule == Rule::Adam {
                moments.push([
                    Tensor::zeros(&start.shape(), DType::F32)?.copy(),
                    Tensor::zeros(&start.shape(), DType::F32)?.copy(),
                ]);
            }
        }
        Tensor::realize_all(parameters.iter().chain(moments.as_flattened()))?;
        (self.parameters, self.moments, self.steps) = (parameters, moments, 0);
        Ok(())
    }

    /// One step on images (batch, 784) and their classes; answers with the loss before it.
    pub fn step(&mut self, images: &Tensor, classes: &Tensor) -> Result<Tensor> {
        self.parameters.iter().for_each(Tensor::zero_grad);
        let mut hidden = images.clone();
        for (i, layer) in self.parameters.chunks_exact(2).enumerate() {
            hidden = hidden.matmul(&layer[0].t()) + &layer[1];
            if 2 * (i + 1) < self.parameters.len() {
                hidden = hidden.relu();
            }
        }
        let loss = hidden.cross_entropy(classes)?;
        loss.backward()?;
        self.update()?;
        Tensor::realize_all(self.parameters.iter().chain(self.moments.as_flattened()).chain([&loss]))?;
        Ok(loss)
    }

    fn update(&mut self) -> Result<()> {
        let _constants = no_grad();
        self.steps += 1;
        for (i, parameter) in self.parameters.iter().enumerate() {
            let Some(gradient) = parameter.grad() else { continue };
            let Some([mean, square]) = self.moments.get(i) else {
                parameter.assign(parameter - gradient * 0.01)?;
                continue;
            };
            let (beta1, beta2) = (0.9f64, 0.999f64);
            mean.assign(mean * beta1 + &gradient * (1.0 - beta1))?;
            square.assign(square * beta2 + gradient.square() * (1.0 - beta2))?;
            let size = 0.001 / (1.0 - beta1.powi(self.steps));
            let root = square.sqrt() * (1.0 / (1.0 - beta2.powi(self.steps)).sqrt()) + 1e-8;
            parameter.assign(parameter - mean * size / root)?;
        }
        Ok(())
    }
}
