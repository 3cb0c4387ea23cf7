//! [`Sequential`]: modules one after another.

use mg_autograd::Tensor;
use mg_device::Result;

use crate::module::{Module, Visitor, told_of};

/// Modules one after another, each on what the one before it answers. Their names are `0`, `1`, ….
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_device::DType;
/// use mg_nn::{Linear, Module, ReLU, sequential};
///
/// let model = sequential![Linear::new(784, 128)?, ReLU, Linear::new(128, 10)?];
/// let x = Tensor::zeros(&[32, 784], DType::F32)?;
/// assert_eq!(*model.forward(&x)?.shape(), [32, 10]);
/// assert_eq!(model.named_parameters()[2].0, "2.weight");
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Default)]
pub struct Sequential(Vec<Box<dyn Module>>);

impl Sequential {
    /// Without modules: the input itself.
    #[must_use]
    pub fn new() -> Sequential {
        Sequential::default()
    }

    /// Adds a module at the end.
    pub fn push(&mut self, module: impl Module + 'static) {
        self.0.push(Box::new(module));
    }

    /// The number of modules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no modules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<Box<dyn Module>>> for Sequential {
    fn from(modules: Vec<Box<dyn Module>>) -> Sequential {
        Sequential(modules)
    }
}

impl Module for Sequential {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let mut x = input.clone();
        for (i, module) in self.0.iter().enumerate() {
            x = told_of(self, i, module.forward(&x))?;
        }
        Ok(x)
    }
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        for (i, module) in self.0.iter().enumerate() {
            visitor.child(i.to_string(), module);
        }
    }
    fn is_chain(&self) -> bool {
        true
    }
}

/// A [`Sequential`] of these modules.
#[macro_export]
macro_rules! sequential {
    ($($module:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut modules = $crate::Sequential::new();
        $(modules.push($module);)*
        modules
    }};
}
