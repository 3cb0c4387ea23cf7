//! micrograd's multilayer perceptron: neurons and layers of scalar [`Value`]s.
//!
//! Each neuron's weighted sum is one node of the graph ([`Span::affine`]), so a step of training takes about a tenth of
//! the nodes it takes when every product and every addition is one, and gives the same numbers.
//!
//! ```
//! use mg_nn::scalar::MLP;
//!
//! let model = MLP::new(2, &[16, 16, 1], 1337);
//! assert_eq!(model.parameters().len(), 337);
//! let score = &model.forward([0.5, -1.0])?[0];
//! model.zero_grad();
//! score.backward();
//! for p in model.parameters() {
//!     p.set_data(p.data() - 0.1 * p.grad());
//! }
//! # Ok::<(), mg_device::Error>(())
//! ```

use crate::data::random::SplitMix64;
use std::fmt;

use mg_autograd::scalar::{Span, Value};
use mg_device::{Device, Error, ErrorKind, Result};

/// `relu(Σ wᵢ·xᵢ + b)`, or the sum alone.
#[derive(Clone, Debug)]
pub struct Neuron {
    /// The weights, and the bias last.
    parameters: Span,
    nonlin: bool,
}

/// Neurons that take the same inputs.
#[derive(Clone, Debug)]
pub struct Layer {
    neurons: Vec<Neuron>,
}

/// A multilayer perceptron: layers one after another, all with ReLU but the last, which is linear.
#[derive(Clone, Debug)]
pub struct MLP {
    layers: Vec<Layer>,
}

impl Neuron {
    /// A neuron of `nin` inputs, with ReLU if `nonlin`. Weights are uniform in [−1, 1), the same for the same seed; the
    /// bias is 0.
    #[must_use]
    pub fn new(nin: usize, nonlin: bool, seed: u64) -> Neuron {
        Neuron::draw(nin, nonlin, &mut SplitMix64::of(seed))
    }

    fn draw(nin: usize, nonlin: bool, random: &mut SplitMix64) -> Neuron {
        let weights = (0..nin).map(|_| random.wide());
        Neuron { parameters: weights.chain([0.0]).collect(), nonlin }
    }

    /// The output for these inputs.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] if there are not as many inputs as weights; [`ErrorKind::UnlikeDevices`] if values are on unlike
    /// devices.
    #[track_caller]
    pub fn forward(&self, inputs: impl Into<Span>) -> Result<Value> {
        let inputs = inputs.into();
        check("neuron", self.weights().len(), &inputs)?;
        self.apply(&inputs)
    }

    #[track_caller]
    fn apply(&self, inputs: &Span) -> Result<Value> {
        if self.nonlin { self.parameters.affine_relu(inputs) } else { self.parameters.affine(inputs) }
    }

    /// The weights, one for each input.
    #[must_use]
    pub fn weights(&self) -> &[Value] {
        &self.parameters[..self.parameters.len() - 1]
    }

    /// The bias.
    #[must_use]
    pub fn bias(&self) -> &Value {
        &self.parameters[self.parameters.len() - 1]
    }

    /// Whether ReLU follows the sum.
    #[must_use]
    pub fn nonlin(&self) -> bool {
        self.nonlin
    }

    /// The weights, then the bias.
    #[must_use]
    pub fn parameters(&self) -> Vec<Value> {
        self.parameters.to_vec()
    }

    /// The same neuron on other parameters, in the order of [`Neuron::parameters`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for another number of them.
    #[track_caller]
    pub fn with_parameters(&self, parameters: &[Value]) -> Result<Neuron> {
        check_count("neuron", self.parameters.len(), parameters)?;
        Ok(Neuron { parameters: parameters.iter().cloned().collect(), nonlin: self.nonlin })
    }

    /// Sets the gradient of each parameter to 0.
    pub fn zero_grad(&self) {
        self.parameters.iter().for_each(Value::zero_grad);
    }

    /// Makes new parameters on a device: leaves with the same numbers, and no gradient.
    ///
    /// # Errors
    ///
    /// As [`Value::with_device`].
    #[track_caller]
    pub fn to(&mut self, device: Device) -> Result<()> {
        let mut moved = Vec::with_capacity(self.parameters.len());
        for p in self.parameters.iter() {
            moved.push(Value::with_device(p.data(), device)?);
        }
        self.parameters = moved.into();
        Ok(())
    }
}

impl Layer {
    /// `nout` neurons of `nin` inputs, as [`Neuron::new`].
    #[must_use]
    pub fn new(nin: usize, nout: usize, nonlin: bool, seed: u64) -> Layer {
        Layer::draw(nin, nout, nonlin, &mut SplitMix64::of(seed))
    }

    fn draw(nin: usize, nout: usize, nonlin: bool, random: &mut SplitMix64) -> Layer {
        Layer { neurons: (0..nout).map(|_| Neuron::draw(nin, nonlin, random)).collect() }
    }

    /// The outputs for these inputs, one for each neuron.
    ///
    /// # Errors
    ///
    /// As [`Neuron::forward`].
    #[track_caller]
    pub fn forward(&self, inputs: impl Into<Span>) -> Result<Vec<Value>> {
        self.apply(&inputs.into())
    }

    #[track_caller]
    fn apply(&self, inputs: &Span) -> Result<Vec<Value>> {
        let mut outputs = Vec::with_capacity(self.neurons.len());
        for neuron in &self.neurons {
            check("layer", neuron.weights().len(), inputs)?;
            outputs.push(neuron.apply(inputs)?);
        }
        Ok(outputs)
    }

    /// The neurons.
    #[must_use]
    pub fn neurons(&self) -> &[Neuron] {
        &self.neurons
    }

    /// The parameters of each neuron in turn.
    #[must_use]
    pub fn parameters(&self) -> Vec<Value> {
        self.neurons.iter().flat_map(|n| n.parameters.iter().cloned()).collect()
    }

    /// As [`Neuron::with_parameters`].
    ///
    /// # Errors
    ///
    /// As [`Neuron::with_parameters`].
    #[track_caller]
    pub fn with_parameters(&self, parameters: &[Value]) -> Result<Layer> {
        check_count("layer", self.neurons.iter().map(|n| n.parameters.len()).sum(), parameters)?;
        let mut rest = parameters;
        let neurons = self.neurons.iter().map(|neuron| {
            let (own, others) = rest.split_at(neuron.parameters.len());
            rest = others;
            neuron.with_parameters(own)
        });
        Ok(Layer { neurons: neurons.collect::<Result<_>>()? })
    }

    /// Sets the gradient of each parameter to 0.
    pub fn zero_grad(&self) {
        self.neurons.iter().for_each(Neuron::zero_grad);
    }

    /// As [`Neuron::to`].
    ///
    /// # Errors
    ///
    /// As [`Neuron::to`].
    #[track_caller]
    pub fn to(&mut self, device: Device) -> Result<()> {
        self.neurons.iter_mut().try_for_each(|n| n.to(device))
    }
}

impl MLP {
    /// A perceptron of `nin` inputs and layers of `nouts` neurons. Weights are uniform in [−1, 1), the same for the same
    /// seed; biases are 0.
    #[must_use]
    pub fn new(nin: usize, nouts: &[usize], seed: u64) -> MLP {
        let mut random = SplitMix64::of(seed);
        let nins = [nin].into_iter().chain(nouts.iter().copied());
        let layer = |(i, (nin, &nout))| Layer::draw(nin, nout, i + 1 != nouts.len(), &mut random);
        MLP { layers: nins.zip(nouts).enumerate().map(layer).collect() }
    }

    /// The outputs of the last layer for these inputs.
    ///
    /// # Errors
    ///
    /// As [`Neuron::forward`].
    #[track_caller]
    pub fn forward(&self, inputs: impl Into<Span>) -> Result<Vec<Value>> {
        let mut inputs = inputs.into();
        let Some((last, hidden)) = self.layers.split_last() else {
            return Ok(inputs.to_vec());
        };
        for layer in hidden {
            inputs = layer.apply(&inputs)?.into();
        }
        last.apply(&inputs)
    }

    /// The layers.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The parameters of each layer in turn.
    #[must_use]
    pub fn parameters(&self) -> Vec<Value> {
        self.layers.iter().flat_map(Layer::parameters).collect()
    }

    /// As [`Neuron::with_parameters`].
    ///
    /// # Errors
    ///
    /// As [`Neuron::with_parameters`].
    #[track_caller]
    pub fn with_parameters(&self, parameters: &[Value]) -> Result<MLP> {
        let counts: Vec<usize> =
            self.layers.iter().map(|l| l.neurons.iter().map(|n| n.parameters.len()).sum()).collect();
        check_count("MLP", counts.iter().sum(), parameters)?;
        let mut rest = parameters;
        let layers = self.layers.iter().zip(counts).map(|(layer, count)| {
            let (own, others) = rest.split_at(count);
            rest = others;
            layer.with_parameters(own)
        });
        Ok(MLP { layers: layers.collect::<Result<_>>()? })
    }

    /// Sets the gradient of each parameter to 0.
    pub fn zero_grad(&self) {
        self.layers.iter().for_each(Layer::zero_grad);
    }

    /// As [`Neuron::to`].
    ///
    /// # Errors
    ///
    /// As [`Neuron::to`].
    #[track_caller]
    pub fn to(&mut self, device: Device) -> Result<()> {
        self.layers.iter_mut().try_for_each(|l| l.to(device))
    }
}

#[track_caller]
fn check_count(op: &'static str, count: usize, parameters: &[Value]) -> Result<()> {
    if parameters.len() == count {
        return Ok(());
    }
    let text = format!("takes {count} parameters, got {}", parameters.len());
    Err(Error::new(op, ErrorKind::Value(text)))
}

#[track_caller]
fn check(op: &'static str, nin: usize, inputs: &Span) -> Result<()> {
    if inputs.len() == nin {
        return Ok(());
    }
    let text = format!("takes {nin} inputs, one for each weight; got {}", inputs.len());
    Err(Error::new(op, ErrorKind::Shape(text)))
}

impl fmt::Display for Neuron {
    /// `ReLUNeuron(2)` or `LinearNeuron(2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.nonlin { "ReLU" } else { "Linear" };
        write!(f, "{kind}Neuron({})", self.weights().len())
    }
}

impl fmt::Display for Layer {
    /// `Layer of [ReLUNeuron(2), ReLUNeuron(2)]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, "Layer", &self.neurons)
    }
}

impl fmt::Display for MLP {
    /// `MLP of [Layer of [ReLUNeuron(2)], Layer of [LinearNeuron(1)]]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, "MLP", &self.layers)
    }
}

fn list(f: &mut fmt::Formatter<'_>, name: &str, items: &[impl fmt::Display]) -> fmt::Result {
    write!(f, "{name} of [")?;
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
    }
    write!(f, "]")
}
