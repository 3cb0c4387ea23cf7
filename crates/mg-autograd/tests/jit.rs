//! Steps that are recorded and replayed.

use mg_autograd::{Generator, Jit, Tensor, draw_from, jit};
use mg_device::{DType, Result};
use mg_graph::LiveScalar;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The generator of random tensors is one for all threads: tests that seed it take turns.
fn generator() -> MutexGuard<'static, ()> {
    static GENERATOR: Mutex<()> = Mutex::new(());
    GENERATOR.lock().unwrap_or_else(PoisonError::into_inner)
}

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
    assert!(!step.is_replaying(), "it lies otherwise than what was recorded");
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

/// A number that replays read anew is one that halves are multiplied with: it is not rounded to theirs.
#[test]
fn a_live_number_beside_halves() -> Result<()> {
    let scale = LiveScalar::new(65536.0);
    let mut step = jit(|x: &[Tensor]| Ok(vec![x[0].try_mul(&scale)?, x[0].try_div(&scale)?]));
    let x = Tensor::from_slice(&[1e-3f32, 0.5]).to_dtype(DType::F16);
    for number in [65536.0, 65536.0, 65536.0, 1e5, 0.3, 3e-6] {
        scale.set(number);
        let found = step.call(&[&x])?;
        let wide = x.to_dtype(DType::F32);
        for (found, wanted) in found.iter().zip([&wide * number, &wide / number]) {
            assert_eq!(found.to_f64_vec()?, wanted.to_dtype(DType::F16).to_f64_vec()?, "{number}");
        }
    }
    assert!(step.is_replaying(), "{:?}", step.reason());
    Ok(())
}

/// A replay would draw from the generator that the thread has when it is called.
#[test]
fn a_step_that_gives_its_thread_a_generator_is_called_each_time() -> Result<()> {
    let mut step = jit(|x: &[Tensor]| {
        let own = Generator::new();
        own.manual_seed(5);
        let before = draw_from(Some(own));
        let drawn = &x[0] + Tensor::rand(&[2], DType::F32)?;
        draw_from(before);
        Ok(vec![drawn])
    });
    let x = Tensor::from_slice(&[1.0f32, 2.0]);
    let first = step.call(&[&x])?[0].to_vec::<f32>()?;
    for _ in 0..4 {
        assert_eq!(step.call(&[&x])?[0].to_vec::<f32>()?, first);
        assert!(!step.is_replaying());
    }
    Ok(())
}

/// However much of it waits: work that is computed by itself because there is so much of it would be cut elsewhere in each run.
#[test]
fn a_step_of_very_many_operations_is_replayed() -> Result<()> {
    let state = Tensor::from_slice(&[0.0f32, 1.0]);
    let mut step = jit(|x: &[Tensor]| {
        let mut sum = x[0].clone();
        for _ in 0..18_000 {
            sum = &sum + &x[0];
        }
        state.assign(&state + &sum)?;
        Ok(vec![state.sum()])
    });
    let one = Tensor::from_slice(&[1.0f32]);
    for i in 1..=5 {
        let sum = step.call(&[&one])?;
        assert_eq!(sum[0].item::<f32>()?, 1.0 + 2.0 * 18_001.0 * i as f32);
    }
    assert!(step.is_replaying(), "{:?}", step.reason());
    Ok(())
}

/// Calls a step three times, during the first two of which another thread does something while the step's own work waits.
#[track_caller]
fn replayed_beside(other: impl Fn() + Sync) {
    let mut step = jit(|x: &[Tensor]| {
        let y = &x[0] + 1.0;
        std::thread::scope(|scope| {
            scope.spawn(&other);
        });
        Ok(vec![y])
    });
    let x = Tensor::from_slice(&[1.0f32, 2.0]);
    for call in 1..=3 {
        assert_eq!(vec1(&step.call(&[&x]).unwrap()[0]), [2.0, 3.0]);
        assert!(step.reason().is_none(), "call {call}: {:?}", step.reason());
    }
    assert!(step.is_replaying());
}

/// What has waited while others computed many times is computed by itself, unless a step that is being recorded has made it.
#[test]
fn a_step_is_replayed_however_often_others_compute() {
    replayed_beside(|| {
        let x = Tensor::from_slice(&[1.0f32]);
        for _ in 0..40 {
            assert_eq!(vec1(&(&x * 2.0)), [2.0]);
        }
    });
}

/// As much as waits in other threads is computed by itself.
#[test]
fn a_step_is_replayed_however_much_waits_beside_it() {
    replayed_beside(|| {
        let x = Tensor::from_slice(&[1.0f32]);
        let waiting: Vec<Tensor> = (0..40_000).map(|_| &x * 2.0).collect();
        assert_eq!(vec1(&waiting[39_999]), [2.0]);
    });
}

/// A gradient that is let go leaves nothing that would say by whom: whose it was is remembered.
#[test]
fn a_step_is_replayed_whatever_gradients_others_let_go() -> Result<()> {
    let leaf = || Tensor::from_slice(&[1.0f32, 2.0]).requires_grad_(true);
    let (own, anothers) = (leaf()?, leaf()?);
    let make_a_gradient = |leaf: &Tensor| (leaf * 2.0).sum().backward();
    for is_own in [false, true] {
        let touched = if is_own { &own } else { &anothers };
        let mut step = jit(|x: &[Tensor]| {
            let loss = (&own * &x[0]).sum();
            loss.backward()?;
            std::thread::scope(|scope| {
                let other = scope.spawn(|| make_a_gradient(touched).map(|()| touched.zero_grad()));
                other.join().expect("a thread that lets go of a gradient")
            })?;
            own.zero_grad();
            Ok(vec![loss.detach()])
        });
        let x = Tensor::from_slice(&[3.0f32, 4.0]);
        for _ in 0..3 {
            assert_eq!(vec1(&step.call(&[&x])?[0]), [11.0]);
        }
        let reason = step.reason().map(ToString::to_string).unwrap_or_default();
        assert_eq!(step.is_replaying(), !is_own, "{reason}");
        assert_eq!(reason.contains("another thread"), is_own, "{reason}");
    }
    Ok(())
}

/// What a recorded step leaves waiting is computed by itself later, as anything else.
#[test]
fn what_a_step_leaves_waiting_is_computed_with_the_rest() {
    let left = Mutex::new(vec![]);
    let mut step = jit(|x: &[Tensor]| {
        left.lock().unwrap().push(&x[0] * 3.0);
        Ok(vec![&x[0] + 1.0])
    });
    let x = Tensor::from_slice(&[1.0f32]);
    step.call(&[&x]).unwrap();
    let others: Vec<Tensor> = (0..40).map(|_| &x * 2.0).collect();
    others.iter().for_each(|other| assert_eq!(vec1(other), [2.0]));
    let left = left.lock().unwrap();
    assert!(left[0].explain().unwrap().launches.is_empty(), "it waits still");
    assert_eq!(vec1(&left[0]), [3.0]);
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

/// Why a step is not replayed, whose answers are right all the same.
fn reason(step: impl FnMut(&[Tensor]) -> Result<Vec<Tensor>>, want: impl Fn(usize) -> [f32; 2]) -> String {
    let mut step = jit(step);
    let x = Tensor::from_slice(&[1.0f32, 2.0]);
    for i in 0..40 {
        assert_eq!(step.call(&[&x]).unwrap()[0].to_vec::<f32>().unwrap(), want(i), "call {i}");
    }
    assert!(!step.is_replaying());
    step.reason().expect("a reason").to_string()
}

#[test]
fn a_step_in_which_the_host_reads_a_value_is_an_error() {
    let x = Tensor::from_slice(&[1.0f32, 2.0]);
    let mut read = jit(|x: &[Tensor]| {
        let sum = x[0].sum();
        sum.item::<f32>()?;
        Ok(vec![sum])
    });
    let error = read.call(&[&x]).unwrap_err();
    assert!(error.to_string().contains("the host reads a value inside the step"), "{error}");
    assert_eq!(error.location().file(), file!());
    let mut print = jit(|x: &[Tensor]| {
        let _ = format!("{}", x[0].sum());
        Ok(vec![])
    });
    let error = print.call(&[&x]).unwrap_err();
    assert!(error.to_string().contains("a tensor is printed inside the step"), "{error}");
    assert_eq!(error.location().file(), file!());
}

#[test]
fn steps_that_cannot_be_replayed_run_as_usual_and_say_why() {
    let mut rate = 1.0;
    let number = reason(
        |x| {
            rate *= 0.5;
            Ok(vec![&x[0] * rate])
        },
        |i| [0.5f32.powi(i as i32 + 1), 2.0 * 0.5f32.powi(i as i32 + 1)],
    );
    assert!(number.contains("a number was not the same both times") && number.contains(file!()), "{number}");
    let mut made = 0.0f32;
    let tensor = reason(
        |x| {
            made += 1.0;
            Ok(vec![&x[0] + &Tensor::from_slice(&[made, made])])
        },
        |i| [i as f32 + 2.0, i as f32 + 3.0],
    );
    assert!(tensor.contains("a tensor was not the same both times") && tensor.contains(file!()), "{tensor}");
    let state = Tensor::from_slice(&[1.0f32, 1.0]);
    let w = Tensor::from_slice(&[1.0f32, 1.0]).requires_grad_(true).unwrap();
    let changed = reason(
        |x| {
            let answer = &x[0] * &w * &state;
            state.assign(&state + 1.0)?;
            Ok(vec![answer])
        },
        |i| [i as f32 + 1.0, 2.0 * (i as f32 + 1.0)],
    );
    assert!(changed.contains("the history of what it changes"), "{changed}");
}

/// A small network with something of everything: products, what is recomputed, a view, a scalar, randomness.
fn network(x: &Tensor, w: &Tensor, v: &Tensor) -> Result<Tensor> {
    let hidden = x.try_matmul(w)?.tanh();
    let noisy = &hidden * &Tensor::rand(&[3, 4], mg_device::DType::F32)?;
    Ok((noisy.t().try_matmul(&(&hidden * 2.0))? * v).exp())
}

fn leaf(shape: &[usize], start: f32) -> Tensor {
    let n = shape.iter().product::<usize>();
    let values = (0..n).map(|i| start + 0.1 * i as f32).collect();
    Tensor::from_vec(values, shape).unwrap().requires_grad_(true).unwrap()
}

#[test]
fn answers_can_be_differentiated_and_their_backward_is_replayed() -> Result<()> {
    let _turn = generator();
    let mut both = vec![];
    for jitted in [false, true] {
        mg_autograd::manual_seed(7);
        let (w, v) = (leaf(&[2, 4], -0.3), leaf(&[4], 0.2));
        let mut step = jit(|x: &[Tensor]| {
            let answer = network(&x[0], &w, &v)?;
            Ok(vec![answer.mean(), answer])
        });
        let mut seen = vec![];
        for i in 0..12 {
            // What is given may have a history of its own.
            let given = leaf(&[3, 2], 0.05 * i as f32);
            let x = &given * 0.5;
            let answer = match jitted {
                true => step.call(&[&x])?,
                false => {
                    let answer = network(&x, &w, &v)?;
                    vec![answer.mean(), answer]
                }
            };
            if jitted {
                assert!(step.is_replaying() || i < 4, "call {i}: {:?}", step.reason());
            }
            assert!(answer[0].requires_grad() && !answer[0].is_leaf());
            let loss = match i % 3 {
                2 => &answer[0] + &(&answer[1] * &answer[1]).sum(),
                _ => answer[0].clone(),
            };
            loss.backward()?;
            // A walk that is replayed computes at once.
            if jitted && i >= 6 {
                assert!(!v.grad().is_some_and(|g| g.node().is_pending()), "call {i}");
            }
            for leaf in [&w, &v, &given] {
                seen.push(leaf.grad().map(|g| g.to_vec::<f32>()).transpose()?);
            }
            seen.push(Some(loss.to_vec::<f32>()?));
            {
                let _guard = mg_autograd::no_grad();
                w.assign(&w * 0.9)?;
            }
            v.zero_grad();
        }
        both.push(seen);
    }
    let (plain, replayed) = (&both[0], &both[1]);
    for (at, (a, b)) in plain.iter().zip(replayed).enumerate() {
        let (a, b) = (a.as_ref().unwrap(), b.as_ref().unwrap());
        let close = a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-5 * a.abs().max(1.0));
        assert!(a.len() == b.len() && close, "{at}: {a:?}, replayed {b:?}");
    }
    Ok(())
}

#[test]
fn the_history_of_a_replay_is_what_the_function_would_have_left() -> Result<()> {
    use mg_autograd::{Backward, grad};
    let w = leaf(&[2], 2.0);
    let f = |x: &[Tensor]| {
        let y = &x[0] * &w;
        Ok(vec![(&y * &y).sum(), y])
    };
    let x = leaf(&[2], 3.0);
    let step = &mut replayed(f, &[&x]);
    let keep = Backward { retain_graph: true, create_graph: false };
    for round in 0..4 {
        x.zero_grad();
        // Twice while it is kept, and then it is let go.
        let answer = step.call(&[&x])?;
        assert!(step.is_replaying());
        answer[0].backward_with(None, keep)?;
        answer[0].backward_with(None, Backward::default())?;
        let twice = [2.0 * 2.0 * 3.0 * 4.0, 2.0 * 2.0 * 3.1 * 2.1 * 2.1];
        for (got, want) in x.grad().unwrap().to_vec::<f32>()?.iter().zip(twice) {
            assert!((got - want).abs() < 1e-3, "round {round}: {got}, want {want}");
        }
        let again = answer[0].backward().unwrap_err().to_string();
        assert!(again.contains("let go"), "{again}");
        // Of an answer, and of a gradient.
        let answer = step.call(&[&x])?;
        let how = Backward { retain_graph: true, create_graph: true };
        let first = grad(&[&answer[0]], &[&answer[1], &x], &[None], how)?;
        let of_answer = first[0].as_ref().unwrap().to_vec::<f32>()?;
        assert_eq!(of_answer, answer[1].to_vec::<f32>()?.iter().map(|y| 2.0 * y).collect::<Vec<_>>());
        let second = grad(&[&first[1].as_ref().unwrap().sum()], &[&x], &[None], Backward::default())?;
        for (got, want) in second[0].as_ref().unwrap().to_vec::<f32>()?.iter().zip([8.0, 2.0 * 2.1 * 2.1]) {
            assert!((got - want).abs() < 1e-4, "round {round}: {got}, want {want}");
        }
        // Of values that are not there any more.
        let answer = step.call(&[&x])?;
        {
            let _guard = mg_autograd::no_grad();
            w.assign(&w * 1.0)?;
        }
        let gone = answer[0].backward().unwrap_err().to_string();
        assert!(gone.contains("changed in place"), "{gone}");
    }
    Ok(())
}

#[test]
fn replays_follow_one_another_in_a_history() -> Result<()> {
    let (a, b) = (leaf(&[3], 1.0), leaf(&[3], 2.0));
    let mut first = jit(|x: &[Tensor]| Ok(vec![(&x[0] * &a).tanh()]));
    let mut second = jit(|x: &[Tensor]| Ok(vec![(&x[0] * &b).sum()]));
    for i in 0..8 {
        let x = leaf(&[3], 0.1 * i as f32);
        let h = first.call(&[&x])?;
        let loss = second.call(&[&h[0]])?;
        loss[0].backward()?;
        let (y, w) = (leaf(&[3], 0.1 * i as f32), leaf(&[3], 1.0));
        ((&y * &w).tanh() * leaf(&[3], 2.0)).sum().backward()?;
        for (got, want) in [(&x, &y), (&a, &w)] {
            let (got, want) = (got.grad().unwrap().to_vec::<f32>()?, want.grad().unwrap().to_vec::<f32>()?);
            assert!(got.iter().zip(&want).all(|(g, w)| (g - w).abs() < 1e-5), "{i}: {got:?}, want {want:?}");
        }
        a.zero_grad();
    }
    assert!(first.is_replaying() && second.is_replaying());
    Ok(())
}

fn vec1(t: &Tensor) -> Vec<f32> {
    t.to_vec::<f32>().unwrap()
}

fn t(values: &[f32]) -> Tensor {
    Tensor::from_slice(values)
}

/// Calls a step three times with `x`, so that it is replayed, and then with others.
fn replayed<F: FnMut(&[Tensor]) -> Result<Vec<Tensor>>>(step: F, x: &[&Tensor]) -> Jit<F> {
    let mut step = jit(step);
    for _ in 0..3 {
        step.call(x).unwrap();
    }
    assert!(step.is_replaying(), "{:?}", step.reason());
    step
}

#[test]
fn arguments_that_lie_otherwise_are_read_as_they_lie() {
    let mut step = replayed(
        |x: &[Tensor]| Ok(vec![&x[0] + 1.0]),
        &[&Tensor::from_vec(vec![1f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap()],
    );
    let m = |v: Vec<f32>, shape: &[usize]| Tensor::from_vec(v, shape).unwrap();
    for _ in 0..4 {
        let turned = m(vec![1.0, 3.0, 2.0, 4.0], &[2, 2]);
        assert_eq!(vec1(&step.call(&[&turned.t()]).unwrap()[0]), [2.0, 3.0, 4.0, 5.0]);
        let wide = m(vec![9.0, 1.0, 2.0, 9.0, 3.0, 4.0], &[2, 3]);
        assert_eq!(vec1(&step.call(&[&wide.narrow(1, 1, 2).unwrap()]).unwrap()[0]), [2.0, 3.0, 4.0, 5.0]);
        let back = m(vec![4.0, 3.0, 2.0, 1.0], &[2, 2]);
        let back = back.slice(0, None, None, -1).unwrap().slice(1, None, None, -1).unwrap();
        assert_eq!(vec1(&step.call(&[&back]).unwrap()[0]), [2.0, 3.0, 4.0, 5.0]);
    }
    assert!(step.is_replaying(), "{:?}", step.reason());
}

#[test]
fn captured_tensors_are_what_they_are_at_the_call() {
    let w = t(&[1.0]);
    let captured = w.clone();
    let mut step = replayed(move |x: &[Tensor]| Ok(vec![(&captured * &x[0]).sum()]), &[&t(&[1.0])]);
    w.assign(7.0).unwrap();
    assert_eq!(vec1(&step.call(&[&t(&[1.0])]).unwrap()[0]), [7.0]);
    w.detach().assign(8.0).unwrap();
    assert_eq!(vec1(&step.call(&[&t(&[1.0])]).unwrap()[0]), [8.0]);
    w.set_data(&t(&[9.0])).unwrap();
    for _ in 0..4 {
        assert_eq!(vec1(&step.call(&[&t(&[1.0])]).unwrap()[0]), [9.0]);
    }
}

#[test]
fn one_tensor_twice_is_another_case_than_two() {
    let (x, y) = (t(&[1.0]), t(&[2.0]));
    let mut step = replayed(|x: &[Tensor]| Ok(vec![&x[0] + &x[1] * 10.0]), &[&x, &x]);
    for _ in 0..4 {
        assert_eq!(vec1(&step.call(&[&x, &y]).unwrap()[0]), [21.0]);
        assert_eq!(vec1(&step.call(&[&y, &y]).unwrap()[0]), [22.0]);
    }
    // An argument that the step also captures.
    let w = t(&[1.0]);
    let captured = w.clone();
    let mut step = replayed(move |x: &[Tensor]| Ok(vec![&captured + &x[0] * 10.0]), &[&w]);
    for k in 1..8 {
        let x = t(&[k as f32]);
        assert_eq!(vec1(&step.call(&[&x]).unwrap()[0]), [1.0 + 10.0 * k as f32]);
        assert_eq!(vec1(&step.call(&[&w]).unwrap()[0]), [11.0]);
    }
}

#[test]
fn answers_and_arguments_are_the_callers_own() {
    let mut step = jit(|x: &[Tensor]| {
        let y = &x[0] * 2.0;
        y.assign(&y + 1.0)?;
        Ok(vec![y])
    });
    let all: Vec<Tensor> = (0..7).map(|i| step.call(&[&t(&[i as f32])]).unwrap().remove(0)).collect();
    assert!(step.is_replaying());
    assert_eq!(all.iter().map(|y| vec1(y)[0]).collect::<Vec<_>>(), [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]);
    let mut step = jit(|x: &[Tensor]| {
        x[0].assign(&x[0] + 1.0)?;
        Ok(vec![&x[0] * 2.0])
    });
    let xs: Vec<Tensor> = (0..7).map(|i| t(&[i as f32])).collect();
    for (i, x) in xs.iter().enumerate() {
        assert_eq!(vec1(&step.call(&[x]).unwrap()[0]), [2.0 * i as f32 + 2.0]);
    }
    assert!(step.is_replaying());
    assert_eq!(xs.iter().map(|x| vec1(x)[0]).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let mut step = jit(|x: &[Tensor]| {
        let y = x[0].square().sum();
        y.backward()?;
        Ok(vec![y])
    });
    for i in 0..7 {
        let x = t(&[i as f32 + 1.0]).requires_grad_(true).unwrap();
        step.call(&[&x]).unwrap();
        assert_eq!(vec1(&x.grad().expect("a gradient")), [2.0 * i as f32 + 2.0]);
    }
    assert!(step.is_replaying());
    // The first element of an argument, and a view of it that is answered with.
    let mut step = jit(|x: &[Tensor]| Ok(vec![x[0].select(0, 0)?, &x[0].select(0, 1)? * 2.0]));
    for i in 0..7 {
        let x = t(&[i as f32, 5.0]);
        let out = step.call(&[&x]).unwrap();
        assert_eq!((vec1(&out[0]), vec1(&out[1])), (vec![i as f32], vec![10.0]));
        out[0].assign(-1.0).unwrap();
        assert_eq!(vec1(&x), [-1.0, 5.0], "a view of the argument");
    }
    assert!(step.is_replaying());
}

#[test]
fn gradients_are_what_they_are_at_the_call() {
    let w = t(&[1.0]).requires_grad_(true).unwrap();
    let captured = w.clone();
    let mut micro = jit(move |x: &[Tensor]| {
        (&captured * &x[0]).sum().backward()?;
        Ok(vec![])
    });
    let one = t(&[1.0]);
    for round in 0..6 {
        w.zero_grad();
        for _ in 0..4 {
            micro.call(&[&one]).unwrap();
        }
        assert_eq!(vec1(&w.grad().unwrap()), [4.0], "round {round}");
    }
    assert!(micro.is_replaying());
    w.set_grad(Some(&t(&[100.0]))).unwrap();
    micro.call(&[&one]).unwrap();
    assert_eq!(vec1(&w.grad().unwrap()), [101.0]);
    w.grad().unwrap().assign(0.0).unwrap();
    micro.call(&[&one]).unwrap();
    assert_eq!(vec1(&w.grad().unwrap()), [1.0]);
    // Differentiated last: the gradient is there afterwards.
    let captured = w.clone();
    let mut step = jit(move |x: &[Tensor]| {
        captured.zero_grad();
        let loss = (&captured * &x[0]).sum();
        loss.backward()?;
        Ok(vec![loss])
    });
    for i in 0..6 {
        let loss = step.call(&[&t(&[i as f32])]).unwrap();
        assert_eq!((vec1(&loss[0]), vec1(&w.grad().unwrap())), (vec![i as f32], vec![i as f32]));
    }
    assert!(step.is_replaying());
}

#[test]
fn random_numbers_and_resets_go_on() {
    let _turn = generator();
    let mut step = jit(|x: &[Tensor]| Ok(vec![&x[0] + &Tensor::rand(&[2], mg_device::DType::F32)?]));
    let zero = t(&[0.0, 0.0]);
    let mut seen = vec![];
    for i in 0..9 {
        if i < 3 {
            mg_autograd::manual_seed(0);
        }
        seen.push(vec1(&step.call(&[&zero]).unwrap()[0]));
    }
    assert!(step.is_replaying());
    assert!(seen[0] == seen[1] && seen[1] == seen[2]);
    for i in 3..9 {
        assert!(seen[..i].iter().all(|other| *other != seen[i]), "call {i}");
    }
    mg_autograd::manual_seed(0);
    assert_eq!(vec1(&step.call(&[&zero]).unwrap()[0]), seen[0]);
    let run = t(&[0.0]);
    let captured = run.clone();
    let mut step = jit(move |x: &[Tensor]| {
        captured.assign(&captured + &x[0])?;
        Ok(vec![])
    });
    let mut got = vec![];
    for call in 0..7 {
        if call == 0 || call == 1 || call == 4 {
            run.assign(0.0).unwrap();
        }
        step.call(&[&t(&[1.0])]).unwrap();
        got.push(vec1(&run)[0]);
    }
    assert_eq!(got, [1.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
}

#[test]
fn a_replay_that_fails_leaves_state_as_it_was() {
    if mg_autograd::default_device().is_cuda() {
        eprintln!("skipped: a GPU tells of an index that only it knows when it is asked next");
        return;
    }
    let (w, count) = (t(&[1.0, 2.0, 3.0]), t(&[0.0]));
    let (table, calls) = (w.clone(), count.clone());
    let mut step = jit(move |x: &[Tensor]| {
        calls.assign(&calls + 1.0)?;
        let picked = table.index_select(0, &x[0])?;
        table.assign(&table + &picked.sum())?;
        Ok(vec![picked])
    });
    let good = Tensor::from_slice(&[0i64, 1]);
    for _ in 0..4 {
        step.call(&[&good.copy()]).unwrap();
    }
    assert!(step.is_replaying());
    let before = (vec1(&w), vec1(&count));
    for i in 0..3 {
        let error = step.call(&[&Tensor::from_slice(&[0i64, 7])]).unwrap_err();
        assert!(matches!(error.kind(), mg_device::ErrorKind::Index { index: 7, size: 3, .. }), "{error}");
        assert!(step.is_replaying(), "{:?}", step.reason());
        assert_eq!((vec1(&w), vec1(&count)), before, "call {i}");
    }
    let out = step.call(&[&good]).unwrap();
    assert_eq!(vec1(&out[0]), before.0[..2]);
    assert_eq!(vec1(&count), [before.1[0] + 1.0]);
}
