//! Functions with gradients of their own, and hooks.

use mg_autograd::check::Options;
use mg_autograd::function::{Context, Function};
use mg_autograd::{Backward, Tensor, apply, backward, grad, gradcheck, gradgradcheck};
use mg_device::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// `x² y`, and `x` handed on as an integer.
struct Product;

impl Function for Product {
    fn name(&self) -> &str {
        "Product"
    }
    fn forward(&self, context: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        context.save_for_backward(&[&inputs[0], &inputs[1]]);
        Ok(vec![&(&inputs[0] * &inputs[0]) * &inputs[1]])
    }
    fn backward(&self, saved: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let (x, y) = (&saved[0], &saved[1]);
        let of = |g: &Tensor| (&(&(g * x) * y) * 2.0, &(g * x) * x);
        let both = gradients[0].as_ref().map(of);
        Ok(both.map_or(vec![None, None], |(x, y)| vec![Some(x), Some(y)]))
    }
}

fn leaf(numbers: &[f64]) -> Result<Tensor> {
    Tensor::from_slice(numbers).requires_grad_(true)
}

#[test]
fn against_central_differences() -> Result<()> {
    let inputs = [leaf(&[0.5, -1.0, 2.0])?, leaf(&[1.5, 0.3, -0.7])?];
    let f = |x: &[Tensor]| Ok((&apply(Product, &[&x[0], &x[1]])?[0] * &x[1]).sum());
    gradcheck(f, &inputs, Options::default())?;
    gradgradcheck(f, &inputs, Options::default())?;
    Ok(())
}

/// A gradient that there is none of is not one of zeros: leaves keep what they have.
#[test]
fn no_gradient_is_none() -> Result<()> {
    struct First;
    impl Function for First {
        fn name(&self) -> &str {
            "First"
        }
        fn forward(&self, _: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
            Ok(vec![&inputs[0] * 2.0, &inputs[1] * 3.0])
        }
        fn backward(&self, _: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
            Ok(vec![gradients[0].clone(), None])
        }
    }
    let (x, y) = (leaf(&[1.0])?, leaf(&[1.0])?);
    let both = apply(First, &[&x, &(&y * 2.0).exp()])?;
    (&both[0] + &both[1]).sum().backward()?;
    assert!(x.grad().is_some() && y.grad().is_none());
    let both = apply(First, &[&x, &y.exp()])?;
    (&(&both[0] + &both[1]) + &y).sum().backward()?;
    assert_eq!(y.grad().map(|g| g.to_f64_vec()).transpose()?, Some(vec![1.0]));
    let both = apply(First, &[&x, &y])?;
    let found = grad(&[&both[1].sum()], &[&x, &y], &[], Backward::default())?;
    assert!(found[1].is_none());
    Ok(())
}

/// What a function is to be told, and tells: what its backward half is given is noted down.
struct Marked {
    mark: fn(&mut Context, &[Tensor], &[Tensor]) -> Result<()>,
    given: Arc<Mutex<Vec<bool>>>,
}

impl Function for Marked {
    fn name(&self) -> &str {
        "Marked"
    }
    fn forward(&self, context: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let results = vec![&inputs[0] * 2.0, &inputs[0] * 3.0];
        (self.mark)(context, inputs, &results)?;
        Ok(results)
    }
    fn backward(&self, _: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        *self.given.lock().unwrap() = gradients.iter().map(Option::is_some).collect();
        Ok(vec![gradients[0].as_ref().map(|g| g * 2.0), None])
    }
}

#[test]
fn what_a_function_asks_and_says_of_its_gradient() -> Result<()> {
    let (x, constant) = (leaf(&[1.0])?, Tensor::from_slice(&[1.0]));
    let given = Arc::new(Mutex::new(vec![]));
    let run = |mark| apply(Marked { mark, given: given.clone() }, &[&x, &constant]);
    let first = |results: &[Tensor]| -> Result<Vec<bool>> {
        results[0].sum().backward()?;
        Ok(given.lock().unwrap().clone())
    };

    run(|context, _, _| {
        assert_eq!([0, 1, 2].map(|i| context.needs_input_grad(i)), [true, false, false]);
        Ok(())
    })?;
    assert_eq!(
        first(&run(|_, _, _| Ok(()))?)?,
        [true, true],
        "zeros stand for a gradient that there is none of"
    );
    let asked = run(|context, _, _| {
        context.set_materialize_grads(false);
        Ok(())
    })?;
    assert_eq!(first(&asked)?, [true, false]);
    let marked = run(|context, _, results| {
        context.mark_non_differentiable(&[&results[1]]);
        Ok(())
    })?;
    assert_eq!((marked[0].requires_grad(), marked[1].requires_grad()), (true, false));
    Ok(())
}

/// Three times its input, written into it.
struct Tripled {
    marks: fn(&mut Context, &Tensor),
    answers: fn(&Tensor) -> Tensor,
}

impl Function for Tripled {
    fn name(&self) -> &str {
        "Tripled"
    }
    fn forward(&self, context: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        inputs[0].assign(&inputs[0] * 3.0)?;
        (self.marks)(context, &inputs[0]);
        Ok(vec![(self.answers)(&inputs[0])])
    }
    fn backward(&self, _: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
        Ok(vec![gradients[0].as_ref().map(|g| g * 3.0)])
    }
}

#[test]
fn inputs_that_a_function_changes_are_marked() -> Result<()> {
    let of_input = |context: &mut Context, input: &Tensor| context.mark_dirty(&[input]);
    let x = leaf(&[1.0, 2.0])?;
    let y = &x * 5.0;
    let written = apply(Tripled { marks: of_input, answers: Tensor::clone }, &[&y])?;
    assert!(written[0].is(&y));
    assert_eq!(y.to_vec::<f64>()?, [15.0, 30.0]);
    y.sum().backward()?;
    assert_eq!(x.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![15.0, 15.0]));

    let refused = |function: Tripled, input: &Tensor, said: &str| {
        let error = apply(function, &[input]).map(drop).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Gradient(text) if text.contains(said)), "{error}");
    };
    let of_other = |context: &mut Context, input: &Tensor| context.mark_dirty(&[&(input * 1.0)]);
    refused(Tripled { marks: of_other, answers: Tensor::clone }, &(&x * 1.0), "only inputs are marked");
    refused(Tripled { marks: of_input, answers: |t| t * 1.0 }, &(&x * 1.0), "not among the results");
    refused(
        Tripled { marks: of_input, answers: Tensor::clone },
        &leaf(&[1.0])?,
        "a leaf that requires a gradient",
    );
    Ok(())
}

#[test]
fn gradients_that_do_not_fit() -> Result<()> {
    struct Wrong(usize);
    impl Function for Wrong {
        fn name(&self) -> &str {
            "Wrong"
        }
        fn forward(&self, _: &mut Context, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
            Ok(vec![&inputs[0] + &inputs[1]])
        }
        fn backward(&self, _: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
            match self.0 {
                0 => Ok(vec![None]),
                1 => Ok(vec![Some(Tensor::ones(&[5], mg_device::DType::F64)?), None]),
                _ => Err(Error::new("mine", ErrorKind::Value(format!("{} gradients", gradients.len())))),
            }
        }
    }
    for (case, words) in [(0, "1 gradients for 2 inputs"), (1, "shape"), (2, "1 gradients")] {
        let (x, y) = (leaf(&[1.0, 2.0])?, leaf(&[3.0, 4.0])?);
        let failed = apply(Wrong(case), &[&x, &y])?[0].sum().backward();
        let text = failed.err().map_or(String::new(), |error| error.to_string());
        assert!(text.contains(words), "{text}");
        assert!(x.grad().is_none());
    }
    Ok(())
}

#[test]
fn hooks_say_gradients() -> Result<()> {
    let told = Arc::new(Mutex::new(vec![]));
    let x = leaf(&[1.0, 2.0])?;
    let y = &x * 3.0;
    let noted = told.clone();
    y.register_hook(Arc::new(move |gradient| {
        noted.lock().unwrap_or_else(|e| e.into_inner()).push(gradient.to_vec::<f64>()?);
        Ok(Some(gradient * 2.0))
    }))?;
    y.retain_grad()?;
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let handle = x.register_post_accumulate_grad_hook(Arc::new(move |leaf| {
        counted.fetch_add(1, Ordering::Relaxed);
        leaf.zero_grad();
        Ok(())
    }))?;
    let how = Backward { retain_graph: true, ..Backward::default() };
    y.sum().backward_with(None, how)?;
    assert!(x.grad().is_none() && count.load(Ordering::Relaxed) == 1);
    handle.remove();
    y.sum().backward()?;
    assert_eq!(x.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![6.0, 6.0]));
    assert_eq!(y.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![4.0, 4.0]));
    assert_eq!(*told.lock().unwrap_or_else(|e| e.into_inner()), vec![vec![1.0, 1.0]; 2]);
    Ok(())
}

#[test]
fn some_leaves_only() -> Result<()> {
    let (x, y) = (leaf(&[1.0])?, leaf(&[2.0])?);
    let h = &x * &y;
    backward(&[&h.sum()], &[], Some(&[&y]), Backward::default())?;
    assert!(x.grad().is_none());
    assert_eq!(y.grad().map(|g| g.to_vec::<f64>()).transpose()?, Some(vec![1.0]));
    let found = grad(&[&(&x * 2.0).sum()], &[&x, &y], &[], Backward::default())?;
    assert!(found[1].is_none());
    Ok(())
}
