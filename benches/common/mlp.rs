//! The multilayer perceptron 784-512-256-10 with its training step.

use crate::inputs::uniform;
use mg_autograd::{Tensor, no_grad};
use mg_device::Result;
use mg_nn::optim::{Adam, Optimizer, SGD};
use mg_nn::{Linear, Module, ReLU, Sequential, sequential};

/// Sizes from the pixels to the classes.
pub const WIDTHS: [usize; 4] = [784, 512, 256, 10];

/// The rule of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Learning rate 0.01.
    Sgd,
    /// Learning rate 0.001.
    Adam,
}

impl Rule {
    fn optimizer(self, parameters: Vec<Tensor>) -> Result<Box<dyn Optimizer>> {
        Ok(match self {
            Rule::Sgd => Box::new(SGD::new(parameters, 0.01)?),
            Rule::Adam => Box::new(Adam::new(parameters, 0.001)?),
        })
    }
}

/// A network in training.
pub struct Trainer {
    rule: Rule,
    model: Sequential,
    optimizer: Box<dyn Optimizer>,
    /// Weight (out, in) and bias of each layer.
    start: Vec<Tensor>,
}

impl Trainer {
    pub fn new(rule: Rule) -> Result<Trainer> {
        let [a, b, c, d] = WIDTHS;
        let model = sequential![Linear::new(a, b)?, ReLU, Linear::new(b, c)?, ReLU, Linear::new(c, d)?];
        let mut start = vec![];
        for (layer, sizes) in WIDTHS.windows(2).enumerate() {
            let (fan_in, fan_out, seed) = (sizes[0], sizes[1], 10 + 2 * layer as u64);
            let k = (fan_in as f64).powf(-0.5);
            start.push(uniform(seed, &[fan_out, fan_in], -k, k)?);
            start.push(uniform(seed + 1, &[fan_out], -k, k)?);
        }
        let optimizer = rule.optimizer(model.parameters())?;
        let mut trainer = Trainer { rule, model, optimizer, start };
        trainer.reset()?;
        Ok(trainer)
    }

    /// Puts parameters and optimiser state back to where they began.
    pub fn reset(&mut self) -> Result<()> {
        self.optimizer = self.rule.optimizer(self.model.parameters())?;
        self.restore()
    }

    /// Puts parameters back to where they began.
    pub fn restore(&self) -> Result<()> {
        let parameters = self.model.parameters();
        let _constants = no_grad();
        for (parameter, start) in parameters.iter().zip(&self.start) {
            parameter.assign(start.copy())?;
        }
        Tensor::realize_all(&parameters)
    }

    /// One step on images (batch, 784) and their classes; answers with the loss before it.
    pub fn step(&mut self, images: &Tensor, classes: &Tensor) -> Result<Tensor> {
        self.optimizer.zero_grad();
        let loss = self.model.forward(images)?.try_cross_entropy(classes, None, -100, "mean", 0.0)?;
        loss.backward()?;
        self.optimizer.step()?;
        loss.realize()?;
        Ok(loss)
    }
}
