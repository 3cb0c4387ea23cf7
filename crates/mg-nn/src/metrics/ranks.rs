//! Metrics of order.

use mg_autograd::{Tensor, no_grad, refuse_replay};
use mg_device::{DType, Result};

use super::{Metric, misfit, wanted};

/// The area under the receiver operating characteristic: how often a score of label 1 is above one of label 0,
/// equal ones counting half. Scores and labels have one shape. Exact: scores are kept, on the device, and sorted
/// when it is computed (Mann and Whitney, 1947).
#[derive(Debug, Default)]
pub struct Auroc {
    scores: Vec<Tensor>,
    labels: Vec<Tensor>,
}

impl Auroc {
    /// Of no batch yet.
    #[must_use]
    pub fn new() -> Auroc {
        Auroc::default()
    }
}

impl Metric for Auroc {
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
        // What it keeps is a list of the host.
        refuse_replay("it gives scores to an AUROC");
        let _guard = no_grad();
        let target = wanted("AUROC", target)?;
        if input.shape() != target.shape() {
            return misfit(
                "AUROC",
                format!("takes equal shapes, got {} and {}", input.shape(), target.shape()),
            );
        }
        let scores = input.detach().flatten(0, -1)?.copy();
        let labels = target.detach().try_ne(0i64)?.flatten(0, -1)?.copy();
        Tensor::realize_all(&[scores.clone(), labels.clone()])?;
        self.scores.push(scores);
        self.labels.push(labels);
        Ok(())
    }

    fn compute(&self) -> Result<Tensor> {
        let _guard = no_grad();
        if self.scores.is_empty() {
            return Ok(Tensor::scalar(f32::NAN));
        }
        let scores = Tensor::cat(&self.scores, 0)?;
        let positive = Tensor::cat(&self.labels, 0)?.to_dtype(DType::F64);
        let (sorted, _) = scores.try_sort(-1, false, false)?;
        let side = |right: bool| Tensor::try_searchsorted(&sorted, &scores, false, right, None, None);
        // The mean rank of equal ones, from 1.
        let ranks = side(false)?.try_add(side(true)?)?.try_add(1i64)?.to_dtype(DType::F64).try_div(2.0)?;
        let (n, ones) = (scores.numel() as f64, positive.sum());
        let zeros = ones.try_neg()?.try_add(n)?;
        let below =
            ranks.try_mul(&positive)?.sum().try_sub(ones.try_mul(ones.try_add(1.0)?)?.try_div(2.0)?)?;
        Ok(below.try_div(ones.try_mul(zeros)?)?.to_dtype(DType::F32))
    }

    fn reset(&mut self) -> Result<()> {
        self.scores.clear();
        self.labels.clear();
        Ok(())
    }
}
