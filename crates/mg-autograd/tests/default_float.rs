//! What integers become where floats are asked for: the dtype of numbers that nobody gave one. It is the process's, so that this file has one test.

use mg_autograd::Tensor;
use mg_device::DType;

#[test]
fn integers_become_the_default_float() {
    let all = || -> mg_device::Result<Vec<Tensor>> {
        let (n, x) = (Tensor::from_slice(&[1i64, 2, 3]), Tensor::from_slice(&[true, false, true]));
        let target = Tensor::from_slice(&[1i64, 1, 1]);
        Ok(vec![
            n.try_xlogy(&n)?,
            x.try_xlogy(2i64)?,
            n.try_xlog1py(&n)?,
            n.try_ldexp(&n)?,
            n.try_zeta(&n)?,
            n.try_hypot(&n)?,
            n.try_logaddexp(&n)?,
            Tensor::try_polygamma(1, &n)?,
            Tensor::try_margin_ranking_loss(&n, &n, &target, 0.0, "mean")?,
            n.try_poisson_nll_loss(&n, true, false, 1e-8, "mean")?,
            Tensor::block_diag(&[] as &[Tensor])?,
        ])
    };
    for (default, wanted) in [(DType::F32, DType::F32), (DType::F64, DType::F64), (DType::BF16, DType::BF16)]
    {
        DType::set_default_float(default).unwrap();
        let dtypes: Vec<DType> = all().unwrap().iter().map(Tensor::dtype).collect();
        DType::set_default_float(DType::F32).unwrap();
        assert!(dtypes.iter().all(|&dtype| dtype == wanted), "{dtypes:?} with {default}");
    }
    // Beyond what f32 tells apart.
    DType::set_default_float(DType::F64).unwrap();
    let power = Tensor::from_slice(&[(1i64 << 24) + 1]).try_ldexp(0i64).unwrap();
    DType::set_default_float(DType::F32).unwrap();
    assert_eq!(power.to_vec::<f64>().unwrap(), [16777217.0]);
}
