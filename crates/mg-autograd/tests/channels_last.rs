//! Images whose channels are innermost: how they lie, what of them lies so, and that all numbers are those of images in planes.

mod common;

use common::Rng;
use mg_autograd::{Padding, Tensor, no_grad};
use mg_device::{DType, Result};

fn strides(t: &Tensor) -> Result<Vec<isize>> {
    Ok(t.lie()?.strides().to_vec())
}

fn bits(t: &Tensor) -> Result<Vec<u32>> {
    Ok(t.to_vec::<f32>()?.into_iter().map(f32::to_bits).collect())
}

fn image(shape: &[usize]) -> Result<Tensor> {
    let of = |i: usize| (i * 7919 % 1009) as f32 / 500.0 - 1.0;
    Tensor::from_vec((0..shape.iter().product()).map(of).collect(), shape)
}

#[test]
fn it_lies_as_it_is_asked_for() -> Result<()> {
    for realized in [false, true] {
        let x = image(&[2, 3, 4, 5])?;
        let last = x.channels_last()?;
        if realized {
            last.realize()?;
        }
        assert_eq!(strides(&last)?, [60, 1, 15, 3]);
        assert!(last.is_channels_last()? && !last.is_contiguous()?);
        assert_eq!(bits(&last)?, bits(&x)?);
        assert!(last.channels_last()?.is(&last));
        assert_eq!(strides(&last.contiguous()?)?, [60, 20, 5, 1]);
        assert_eq!(strides(&last.copy())?, [60, 1, 15, 3]);
        // A view of it in the order in which it lies is dense.
        assert_eq!(strides(&last.permute(&[0, 2, 3, 1])?)?, [60, 15, 3, 1]);
        assert!(last.permute(&[0, 2, 3, 1])?.copy().permute(&[0, 3, 1, 2])?.is_channels_last()?);
    }
    let volume = image(&[2, 3, 2, 4, 5])?.channels_last()?;
    assert_eq!(strides(&volume)?, [120, 1, 60, 15, 3]);
    assert!(image(&[3, 4])?.channels_last().is_err());
    // One channel, or one place: both orders are one.
    for shape in [[2, 1, 4, 5], [2, 3, 1, 1], [0, 3, 4, 5]] {
        let x = image(&shape)?;
        assert!(x.channels_last()?.is_contiguous()? && x.channels_last()?.is_channels_last()?);
    }
    Ok(())
}

#[test]
fn what_is_made_of_it_lies_so() -> Result<()> {
    for realized in [false, true] {
        let x = image(&[4, 3, 4, 5])?.channels_last()?;
        let channels = image(&[3, 1, 1])?;
        if realized {
            x.realize()?;
        }
        let made = [
            &x + 1.0,
            &x * &channels,
            x.relu(),
            &x - &x.mean_dim(&[0, 2, 3], true),
            x.narrow(0, 1, 2)?.exp(),
            x.gt(0.5).to_dtype(DType::F32),
            &image(&[4, 3, 4, 5])? + &x,
        ];
        for (i, y) in made.iter().enumerate() {
            assert!(y.is_channels_last()?, "{i}, {realized}, before");
            y.realize()?;
            let value = y.value()?;
            assert!(y.is_channels_last()?, "{i}, {realized}");
            assert_eq!(value.layout.strides(), y.lie()?.strides(), "{i}, {realized}");
        }
        for y in [x.sum_dim(&[0], false), x.narrow(1, 0, 2)?.exp(), x.reshape(&[4, 3, 20])?.exp()] {
            assert!(y.is_contiguous()?);
            y.realize()?;
            assert!(y.value()?.layout.is_contiguous());
        }
    }
    Ok(())
}

/// Numbers of a computation with images in planes, and with images whose channels are innermost.
fn both(f: impl Fn(&Tensor, &Tensor) -> Result<Vec<Tensor>>) -> Result<()> {
    for (realized, apart) in [(false, false), (true, false), (true, true)] {
        let run = |last: bool| -> Result<Vec<Vec<u32>>> {
            let (x, y) = (image(&[2, 3, 4, 5])?, image(&[2, 3, 4, 5])?.flip(&[0, 3])?);
            let (x, y) = if last { (x.channels_last()?, y.channels_last()?) } else { (x, y) };
            if realized {
                x.realize()?;
                y.realize()?;
            }
            let found = f(&x, &y)?;
            if apart {
                found.iter().try_for_each(|t| t.realize().map(drop))?;
            }
            found.iter().map(bits).collect()
        };
        for (i, (planes, last)) in run(false)?.iter().zip(&run(true)?).enumerate() {
            assert_eq!(planes, last, "result {i}, {realized}, {apart}");
        }
    }
    Ok(())
}

#[test]
fn numbers_are_the_same() -> Result<()> {
    both(|x, y| Ok(vec![x + y, x.exp(), &x.relu() * y, x.amax(&[1], false), x.amax(&[2, 3], true)]))?;
    both(|x, y| Ok(vec![x.reshape(&[2, 60])?, &x.reshape(&[-1])? * &y.ravel()?, x.ravel()?.exp()]))?;
    both(|x, y| {
        Ok(vec![
            &x.permute(&[0, 2, 3, 1])? + &y.permute(&[0, 2, 3, 1])?,
            x.cumsum(1, None),
            x.cumsum(3, None),
        ])
    })?;
    both(|x, y| {
        let joined = Tensor::cat(&[x.clone(), y.clone()], 1)?;
        Ok(vec![joined, x.flip(&[1, 3])?, x.narrow(1, 1, 2)?.copy(), x.transpose(1, 2)?.contiguous()?])
    })?;
    both(|x, y| {
        let (a, b) = (x.relu(), &x.relu() + y);
        a.realize()?;
        Ok(vec![b, a.amax(&[0, 2, 3], false), a])
    })
}

#[test]
fn writing_keeps_the_order() -> Result<()> {
    both(|x, y| {
        let z = x.copy();
        let was = strides(&z)?;
        let seen = z.narrow(1, 0, 2)?;
        z.assign(&(&z + y))?;
        seen.assign(&(&seen * 2.0))?;
        z.narrow(0, 1, 1)?.assign(0.5)?;
        z.realize()?;
        assert_eq!(strides(&z)?, was);
        let rows = Tensor::zeros(&[2, 3, 4, 5], DType::F32)?;
        rows.assign(x)?;
        rows.realize()?;
        assert!(rows.is_contiguous()? && rows.value()?.layout.is_contiguous());
        rows.assign(&(&rows + &z))?;
        rows.realize()?;
        assert!(rows.is_contiguous()? && rows.value()?.layout.is_contiguous());
        Ok(vec![z, seen, rows])
    })
}

#[test]
fn memory_is_written_over_and_handed_out_as_it_lies() -> Result<()> {
    let x = image(&[2, 3, 4, 5])?.channels_last()?;
    x.realize()?;
    let at = x.value()?.buffer.address();
    for _ in 0..2 {
        x.assign(&(&x * 2.0))?;
        x.realize()?;
        assert_eq!(x.value()?.buffer.address(), at);
    }
    let expected = bits(&x)?;
    for y in [x.clone(), &x + 0.0, x.narrow(0, 1, 1)?] {
        let (value, shared) = y.export()?;
        assert!(shared.is_some());
        assert_eq!(value.layout.strides()[1..], [1, 15, 3]);
        assert!(y.is_channels_last()?);
    }
    assert_eq!(bits(&x)?, expected);
    Ok(())
}

#[test]
fn views_that_were_copied_for_a_reshape_are_handed_out_where_they_were_told_to_lie() -> Result<()> {
    for axes in [[0, 2, 1, 3], [0, 3, 1, 2], [3, 2, 1, 0]] {
        for detached in [false, true] {
            let x = image(&[4, 4, 4, 4])?.channels_last()?;
            let seen = x.permute(&axes)?;
            let seen = if detached { seen.detach() } else { seen };
            let told = strides(&seen)?;
            let _flat = seen.reshape(&[-1])?.exp();
            let (whole, _shared) = x.export()?;
            let (value, shared) = seen.export()?;
            assert!(shared.is_some() && value.buffer.ptr_eq(&whole.buffer), "{axes:?}, {detached}");
            assert_eq!(value.layout.strides(), told, "{axes:?}, {detached}");
            assert_eq!(bits(&seen)?, bits(&image(&[4, 4, 4, 4])?.permute(&axes)?)?);
        }
    }
    Ok(())
}

#[test]
fn what_is_contiguous_in_the_order_of_memory_is_contiguous() -> Result<()> {
    for (realized, tracked) in [(false, false), (true, false), (false, true), (true, true)] {
        for shape in [&[2, 3, 4, 5][..], &[2, 3, 2, 4, 5]] {
            let leaf = image(shape)?.requires_grad_(tracked)?;
            let x = leaf.channels_last()?;
            if realized {
                x.realize()?;
            }
            let rank = shape.len();
            let to_memory: Vec<isize> = [0].into_iter().chain(2..rank as isize).chain([1]).collect();
            let seen = x.permute(&to_memory)?;
            assert!(seen.is_contiguous()? && seen.contiguous()?.is(&seen));
            let flat = seen.view(&[-1])?;
            assert_eq!(bits(&flat)?, bits(&image(shape)?.permute(&to_memory)?.copy())?);
            // The tensor itself is what it was.
            assert!(x.is_channels_last()? && !x.is_contiguous()? && x.base().is_none());
            assert!((&x + 1.0).is_channels_last()? && (&x.narrow(0, 1, 1)? + 1.0).is_channels_last()?);
            assert_eq!(bits(&x)?, bits(&image(shape)?)?);
            // What is written through the one is seen by the other, and by what was cut off.
            let cut = x.detach();
            let _guard = no_grad();
            flat.assign(&(&flat * 2.0))?;
            x.assign(&(&x + 1.0))?;
            let want = bits(&(image(shape)? * 2.0 + 1.0))?;
            for y in [&x, &cut] {
                assert!(y.is_channels_last()? && (y * 1.5).is_channels_last()?);
                assert!((&y.narrow(0, 1, 1)? * 1.5).is_channels_last()?);
                assert_eq!(bits(y)?, want);
                assert_eq!(bits(&y.permute(&to_memory)?.view(&[-1])?)?, bits(&flat)?);
            }
        }
    }
    Ok(())
}

#[test]
fn every_second_image_of_several_does_not_lie_densely() -> Result<()> {
    let x = image(&[4, 3, 4, 5])?.channels_last()?;
    let seen = x.slice(0, None, None, 2)?;
    assert!(!seen.is_channels_last()? && !seen.node().lies_innermost());
    x.realize()?;
    seen.realize()?;
    assert!(!seen.is_channels_last()? && !seen.node().lies_innermost());
    Ok(())
}

#[test]
fn a_gradient_lies_as_its_leaf() -> Result<()> {
    for turned in [false, true] {
        let leaf = image(&[2, 3, 4, 5])?;
        let leaf = if turned { leaf.channels_last()? } else { leaf }.detach().requires_grad_(true)?;
        let rows = image(&[2, 4, 5, 3])?;
        for (i, loss) in
            [&leaf.permute(&[0, 2, 3, 1])? * &rows, leaf.reshape(&[2, 60])? * 2.0].iter().enumerate()
        {
            leaf.set_grad(None)?;
            loss.sum().backward()?;
            let grad = leaf.grad().expect("a gradient");
            assert_eq!(strides(&grad)?, strides(&leaf)?, "{turned}, {i}");
            assert_eq!(grad.value()?.layout.strides(), strides(&leaf)?, "{turned}, {i}");
            assert_eq!(grad.view(&[-1]).is_ok(), !turned);
        }
        let given = image(&[2, 4, 5, 3])?.permute(&[0, 3, 1, 2])? * 1.0;
        leaf.set_grad(None)?;
        (&leaf * &given).sum().backward()?;
        assert_eq!(bits(&leaf.grad().expect("a gradient"))?, bits(&given)?);
    }
    Ok(())
}

#[test]
fn gradients_are_the_same() -> Result<()> {
    both(|x, y| {
        let x = x.detach().requires_grad_(true)?;
        let w = &Tensor::ones(&[4, 3, 3, 3], DType::F32)? * 0.1;
        let out = x.conv2d(&w, None, &[1], Padding::Sizes(&[1]), &[1], 1);
        let loss = (&out.relu().sum_dim(&[1], false) * &y.sum_dim(&[1], false)).sum();
        loss.backward()?;
        let _guard = no_grad();
        Ok(vec![out.copy(), x.grad().expect("a gradient")])
    })
}

/// A step of a random program on what there is: a new tensor, or one that is written to.
fn step(rng: &mut Rng, all: &[Tensor]) -> Result<Option<Tensor>> {
    let x = &all[rng.below(all.len())];
    let y = &all[rng.below(all.len())];
    Ok(match rng.below(14) {
        0 => Some(x + y),
        1 => Some((x * y).relu()),
        2 => Some(x.copy()),
        3 => Some(x.contiguous()?.copy()),
        4 => Some(x.channels_last()?.copy()),
        5 => Some(x - &x.amax(&[0, 2, 3], true)),
        6 => Some(x * &x.sum_dim(&[1], true)),
        7 => Some(x.reshape(&[3, 2, 5, 4])?.reshape(&[2, 3, 4, 5])?.copy()),
        8 => Some(x.permute(&[0, 2, 3, 1])?.relu().permute(&[0, 3, 1, 2])?),
        9 => Some(x.flip(&[2])?),
        10 => {
            x.realize()?;
            None
        }
        11 => {
            x.assign(y)?;
            None
        }
        12 => {
            x.narrow(rng.below(4) as isize, 1, 1)?.assign(0.25)?;
            None
        }
        _ => {
            x.slice(1, None, None, 2)?.assign(&(&y.slice(1, None, None, 2)? * 0.5))?;
            None
        }
    })
}

#[test]
fn random_programs_have_the_numbers_of_planes() -> Result<()> {
    let mut last = 0;
    for seed in 1..400 {
        let run = |turned: bool| -> Result<(Vec<Vec<u32>>, Vec<Tensor>)> {
            let mut rng = Rng(seed);
            let (a, b) = (image(&[2, 3, 4, 5])?, image(&[2, 3, 4, 5])?.flip(&[1])?);
            let mut all =
                if turned { vec![a.channels_last()?, b.channels_last()?] } else { vec![a.copy(), b] };
            for _ in 0..10 {
                if let Some(new) = step(&mut rng, &all)? {
                    all.push(new);
                }
            }
            let told: Vec<bool> = all.iter().map(Tensor::is_channels_last).collect::<Result<_>>()?;
            let found = all.iter().map(bits).collect::<Result<_>>()?;
            for (t, told) in all.iter().zip(told) {
                assert_eq!(t.is_channels_last()?, told, "{seed}: it lies as it was told to");
            }
            Ok((found, all))
        };
        let ((planes, _), (found, all)) = (run(false)?, run(true)?);
        for (i, (planes, found)) in planes.iter().zip(&found).enumerate() {
            assert_eq!(planes, found, "program {seed}, value {i}");
        }
        for t in &all {
            last += usize::from(t.is_channels_last()?);
        }
    }
    assert!(last > 1000, "{last}");
    Ok(())
}
