//! Steps that are recorded and replayed.

use mg_autograd::{Tensor, jit};
use mg_device::Result;

#[test]
fn state_written_between_replays_is_where_the_next_goes_on_from() -> Result<()> {
    let weight = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    let state = weight.clone();
    let mut step = jit(move |x: &[Tensor]| {
        state.assign(&state + &x[0])?;
        Ok(vec![state.sum()])
    });
    let one = Tensor::from_slice(&[1.0f32]);
    for _ in 0..5 {
        step.call(&[&one])?;
    }
    assert!(step.is_replaying());
    assert_eq!(weight.to_vec::<f32>()?, [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);

    // Another's memory, in another order: it is read and left alone.
    let other = Tensor::from_vec(vec![10.0f32, 40.0, 20.0, 50.0, 30.0, 60.0], &[3, 2])?;
    weight.assign(other.t())?;
    let sum = step.call(&[&one])?;
    assert!(step.is_replaying());
    assert_eq!(sum[0].item::<f32>()?, 216.0);
    assert_eq!(step.call(&[&one])?[0].item::<f32>()?, 222.0);
    assert_eq!(weight.to_vec::<f32>()?, [12.0, 22.0, 32.0, 42.0, 52.0, 62.0]);
    assert_eq!(other.to_vec::<f32>()?, [10.0, 40.0, 20.0, 50.0, 30.0, 60.0]);

    // A part of it alone, too.
    weight.select(0, 0)?.assign(0.0)?;
    assert_eq!(step.call(&[&one])?[0].item::<f32>()?, 162.0);
    assert_eq!(weight.to_vec::<f32>()?, [1.0, 1.0, 1.0, 43.0, 53.0, 63.0]);
    Ok(())
}

/// A replayed function within another is part of it.
#[test]
fn a_function_within_another_is_part_of_it() {
    let weight = Tensor::from_slice(&[1.0f32, 2.0]);
    weight.realize().unwrap();
    let mut inner = jit(|x: &[Tensor]| {
        weight.assign(&weight + &x[0])?;
        Ok(vec![])
    });
    let x = Tensor::from_slice(&[1.0f32, 1.0]);
    for _ in 0..4 {
        inner.call(&[&x]).unwrap();
    }
    let mut outer = jit(|x: &[Tensor]| {
        inner.call(&[&x[0]])?;
        Ok(vec![weight.sum()])
    });
    for i in 5..12 {
        let sum = outer.call(&[&x]).unwrap();
        assert_eq!(sum[0].item::<f32>().unwrap(), 3.0 + 2.0 * i as f32, "call {i}");
    }
    assert!(outer.is_replaying());
    assert_eq!(weight.to_vec::<f32>().unwrap(), [12.0, 13.0]);
}

/// The error of a step that never agrees, which names the line of the call.
fn refused(step: impl FnMut(&[Tensor]) -> Result<Vec<Tensor>>) -> String {
    let mut step = jit(step);
    let x = Tensor::from_slice(&[1.0f32, 2.0]);
    let error = (0..10).find_map(|_| step.call(&[&x]).err()).expect("an error");
    assert_eq!(error.location().file(), file!());
    error.to_string()
}

#[test]
fn steps_that_cannot_be_replayed_say_why() {
    let read = refused(|x| {
        let sum = x[0].sum();
        sum.item::<f32>()?;
        Ok(vec![sum])
    });
    assert!(read.contains("the host reads a value inside the step, at ") && read.contains(file!()), "{read}");
    let printed = refused(|x| {
        let sum = x[0].sum();
        assert!(format!("{sum}").starts_with("tensor(3., dtype=f32"));
        Ok(vec![sum])
    });
    assert!(printed.contains("a tensor is printed inside the step"), "{printed}");
    let mut rate = 1.0;
    let number = refused(|x| {
        rate *= 0.5;
        Ok(vec![&x[0] * rate])
    });
    assert!(number.contains("a number was not the same both times") && number.contains(file!()), "{number}");
    let mut made = 0.0f32;
    let tensor = refused(|x| {
        made += 1.0;
        Ok(vec![&x[0] + &Tensor::from_slice(&[made, made])])
    });
    assert!(tensor.contains("a tensor was not the same both times") && tensor.contains(file!()), "{tensor}");
}
