//! Kernels that have a gradient of their own, called in a branch: elements that do not come there divide no integer by zero in them.
//!
//! The steps of other kernels are written down in their caller's place, where each divisor knows its branches ([`Builder::shield`]).
//! These stay kernels; so they are told the branch's condition by one more argument.

use super::{Builder, Constant, Kernel, Part, Slopes, Step};
use mg_device::Result;
use std::sync::Arc;

impl Slopes {
    fn kernel(&self) -> &Arc<Kernel> {
        match self {
            Slopes::Partial(kernel) | Slopes::Backward(kernel) => kernel,
        }
    }
}

impl Kernel {
    /// Whether an element that is 0 may be divided by somewhere in it, or in its gradient.
    fn may_divide(&self) -> bool {
        let within = |step: &Step| match step {
            Step::Call(operation, _) => operation.divides,
            Step::Kernel(kernel, ..) => kernel.may_divide(),
            Step::Argument(_)
            | Step::Constant(_)
            | Step::Select(_)
            | Step::Within(_)
            | Step::Shield(_)
            | Step::As(..) => false,
        };
        self.steps.iter().any(within) || self.slopes.as_ref().is_some_and(|s| s.kernel().may_divide())
    }

    /// The kernel with one more argument at a position: where that does not hold, no integer is divided by what it may be there.
    fn guarded(&self, at: usize) -> Kernel {
        let mut steps = vec![Step::Argument(at)];
        // Where each of the own steps is now.
        let mut place: Vec<usize> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let step = match step {
                Step::Argument(own) => Step::Argument(own + usize::from(*own >= at)),
                Step::Constant(constant) => Step::Constant(constant.clone()),
                Step::Call(operation, parts) => {
                    let moved = |part: &Part| match part {
                        Part::Value(of) => Part::Value(place[*of]),
                        Part::Constant(constant) => Part::Constant(constant.clone()),
                    };
                    let mut parts: Vec<Part> = parts.iter().map(moved).collect();
                    if let (true, Some(divisor)) = (operation.divides, parts.get_mut(1)) {
                        let of = match divisor {
                            Part::Value(of) => *of,
                            Part::Constant(constant) => {
                                steps.push(Step::Constant(constant.clone()));
                                steps.len() - 1
                            }
                        };
                        steps.push(Step::Shield([0, of]));
                        *divisor = Part::Value(steps.len() - 1);
                    }
                    Step::Call(operation, parts)
                }
                Step::Select(of) => Step::Select(of.map(|v| place[v])),
                Step::Within(of) => Step::Within(of.map(|v| place[v])),
                Step::Shield(of) => Step::Shield(of.map(|v| place[v])),
                Step::As(sort, of) => Step::As(*sort, place[*of]),
                Step::Kernel(kernel, of, result) => {
                    let mut of: Vec<usize> = of.iter().map(|&v| place[v]).collect();
                    match kernel.may_divide() {
                        true => {
                            of.push(0);
                            Step::Kernel(Arc::new(kernel.guarded(kernel.arguments)), of, *result)
                        }
                        false => Step::Kernel(kernel.clone(), of, *result),
                    }
                }
            };
            place.push(steps.len());
            steps.push(step);
        }
        let results = self.results.iter().map(|&v| place[v]).collect();
        let slopes = self.slopes.as_ref().map(|slopes| match slopes {
            Slopes::Partial(kernel) => Slopes::Partial(Arc::new(kernel.guarded(at).and_no_slope(at))),
            Slopes::Backward(kernel) => Slopes::Backward(Arc::new(kernel.guarded(at).and_no_slope(at))),
        });
        Kernel { name: self.name, arguments: self.arguments + 1, steps, results, slopes }
    }

    /// The kernel with one more result at a position, which is 0: the gradient of a condition.
    fn and_no_slope(mut self, at: usize) -> Kernel {
        self.steps.push(Step::Constant(Constant::Float(0.0)));
        self.results.insert(at, self.steps.len() - 1);
        self
    }
}

impl Builder {
    /// The results of a kernel that has a gradient of its own, called in branches that are taken where all conditions hold. (The steps of
    /// other kernels are written down in their place.)
    ///
    /// # Errors
    ///
    /// Values that are not there; another number of arguments.
    pub fn kernel_within(
        &mut self,
        kernel: &Arc<Kernel>,
        conditions: &[usize],
        args: &[usize],
    ) -> Result<Vec<usize>> {
        let (mut called, mut args) = (kernel.clone(), args.to_vec());
        if let (Some(&first), true) =
            (conditions.first(), kernel.may_divide() && args.len() == kernel.arguments)
        {
            let mut all = first;
            for &next in &conditions[1..] {
                all = self.call("logical_and", &[Part::Value(all), Part::Value(next)])?;
            }
            called = Arc::new(kernel.guarded(kernel.arguments));
            args.push(all);
        }
        (0..kernel.results()).map(|i| self.kernel(&called, &args, i)).collect()
    }
}
