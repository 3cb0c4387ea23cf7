//! A profile tells the caller's line of every launch.

use mg_autograd::Tensor;
use mg_device::DType;
use mg_graph::{chrome_trace, profile_start, profile_stop};

#[test]
fn launches_tell_the_callers_line() {
    let x = Tensor::rand(&[64, 32], DType::F32).unwrap();
    let w = Tensor::rand(&[32, 16], DType::F32).unwrap().requires_grad_(true).unwrap();
    x.realize().unwrap();
    w.realize().unwrap();
    profile_start();
    let (y, product) = (x.matmul(&w), line!());
    let (loss, sum) = ((&y * &y).sum(), line!());
    loss.backward().unwrap();
    loss.realize().unwrap();
    w.grad().unwrap().realize().unwrap();
    let launches = profile_stop();
    let at = |line: u32| format!("{}:{line}", file!());
    let told = |line: u32| launches.iter().filter(|timed| timed.launch.line == at(line)).count();
    // The product, and the gradient of an operand of it.
    assert!(told(product) >= 2, "{launches:#?}");
    assert!(told(sum) >= 1, "{launches:#?}");
    assert!(launches.iter().all(|timed| timed.launch.line.starts_with(file!())), "{launches:#?}");
    assert!(launches.iter().all(|timed| timed.caller.is_none()));
    let trace = chrome_trace(&launches);
    assert!(trace.contains(&format!("\"line\":\"{}\"", at(product))), "{trace}");
    // Nothing is noted outside.
    (&x + 1.0).realize().unwrap();
    assert!(profile_stop().is_empty());
}
