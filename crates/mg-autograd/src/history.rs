//! The graph as a walk sees it: what computed a tensor, and what that was computed of.

use crate::function::Call;
use crate::gradient::leaf_of;
use crate::tensor::Tensor;
use mg_graph::{Kernel, Node, Op, Tag, View};

/// What a walk comes to: an operation that a tensor was computed by, or a leaf.
#[derive(Clone)]
pub struct History(Node);

impl History {
    fn of(node: &Node) -> (History, usize) {
        match node.tag() {
            Some(Tag::History(behind)) => History::of(behind),
            Some(Tag::Output(call, at)) => (History(call.clone()), *at),
            Some(Tag::Owner(_) | Tag::Forgotten(_) | Tag::Call(_) | Tag::Replayed(_)) | None => {
                (History(node.clone()), 0)
            }
        }
    }

    /// The name of what computed a node.
    pub(crate) fn name_of(node: &Node) -> String {
        History(node.clone()).name()
    }

    /// The operation's name as PyTorch has it: `MulBackward0`; `AccumulateGrad` for a leaf; the name of a function with a gradient of its own.
    pub fn name(&self) -> String {
        if let Some(call) = Call::of(&self.0) {
            return call.name().to_string();
        }
        match self.0.tag() {
            Some(Tag::Owner(_)) => "AccumulateGrad".into(),
            _ => backward(&self.0),
        }
    }

    /// What it was computed of, as far as gradients flow there, and which result of that; `None` for constants. Nothing, once the graph
    /// was let go.
    pub fn next(&self) -> Vec<Option<(History, usize)>> {
        if let Some(Tag::Owner(_)) = self.0.tag() {
            return vec![];
        }
        let mut all: Vec<_> =
            self.0.sources().iter().map(|s| s.is_tracked().then(|| History::of(s))).collect();
        if let Some(Tag::Forgotten(behind)) = self.0.tag() {
            all.push(Some(History::of(behind)));
        }
        all
    }

    /// Whether it stands for a leaf.
    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.0.tag(), Some(Tag::Owner(_)))
    }

    pub(crate) fn node(&self) -> &Node {
        &self.0
    }

    /// The leaf, if it is one that is still there.
    pub fn leaf(&self) -> Option<Tensor> {
        leaf_of(&self.0)
    }

    /// A number that is another one for another operation.
    pub fn id(&self) -> u64 {
        self.0.sequence()
    }
}

/// What PyTorch calls the step back through operations whose own names are not these words with capitals: by what a person called, or the engine's
/// own step. Several operations are one there.
const NAMES: &[(&str, &str)] = &[
    ("H", "Transpose"),
    ("T", "Permute"),
    ("adaptive_avg_pool2d", "AdaptiveAvgPool2D"),
    ("adaptive_avg_pool3d", "AdaptiveAvgPool3D"),
    ("adaptive_max_pool2d", "AdaptiveMaxPool2D"),
    ("adaptive_max_pool3d", "AdaptiveMaxPool3D"),
    ("adjoint", "Transpose"),
    ("affine_grid", "AffineGridGenerator"),
    ("avg_pool2d", "AvgPool2D"),
    ("avg_pool3d", "AvgPool3D"),
    ("batch_norm", "NativeBatchNorm"),
    ("broadcast_to", "Expand"),
    ("cast", "ToCopy"),
    ("cholesky", "LinalgCholeskyEx"),
    ("cholesky_ex", "LinalgCholeskyEx"),
    ("chunk", "Split"),
    ("column_stack", "Cat"),
    ("concat", "Cat"),
    ("conv", "Convolution"),
    ("conv1d", "Convolution"),
    ("conv2d", "Convolution"),
    ("conv3d", "Convolution"),
    ("conv_transpose", "Convolution"),
    ("conv_transpose1d", "Convolution"),
    ("conv_transpose2d", "Convolution"),
    ("conv_transpose3d", "Convolution"),
    ("copy", "Clone"),
    ("cross", "LinalgCross"),
    ("cross_entropy", "NllLoss"),
    ("deg2rad", "Deg2Rad"),
    ("det", "LinalgDet"),
    ("dstack", "Cat"),
    ("eigh", "LinalgEigh"),
    ("eigvalsh", "LinalgEigh"),
    ("expand_as", "Expand"),
    ("flatten", "View"),
    ("float_power", "Pow"),
    ("fold", "Col2Im"),
    ("fractional_max_pool2d", "FractionalMaxPool2D"),
    ("fractional_max_pool3d", "FractionalMaxPool3D"),
    ("group_norm", "NativeGroupNorm"),
    ("householder_product", "LinalgHouseholderProduct"),
    ("hstack", "Cat"),
    ("inv", "LinalgInvEx"),
    ("inv_ex", "LinalgInvEx"),
    ("inverse", "LinalgInvEx"),
    ("layer_norm", "NativeLayerNorm"),
    ("log1p", "Log1P"),
    ("logsigmoid", "LogSigmoid"),
    ("lstsq", "LinalgLstsq"),
    ("lu", "LinalgLu"),
    ("lu_factor", "LinalgLuFactorEx"),
    ("lu_factor_ex", "LinalgLuFactorEx"),
    ("lu_solve", "LinalgLuSolve"),
    ("mH", "Transpose"),
    ("mT", "Transpose"),
    ("matrix_exp", "LinalgMatrixExp"),
    ("max_pool2d", "MaxPool2DWithIndices"),
    ("max_pool2d_with_indices", "MaxPool2DWithIndices"),
    ("max_pool3d", "MaxPool3DWithIndices"),
    ("max_pool3d_with_indices", "MaxPool3DWithIndices"),
    ("max_unpool2d", "MaxUnpool2D"),
    ("max_unpool3d", "MaxUnpool3D"),
    ("moveaxis", "Permute"),
    ("movedim", "Permute"),
    ("narrow", "Slice"),
    ("norm", "LinalgVectorNorm"),
    ("outer", "Mul"),
    ("pad", "ConstantPadNd"),
    ("pinv", "LinalgPinv"),
    ("prelu", "PreluKernel"),
    ("qr", "LinalgQr"),
    ("rad2deg", "Rad2Deg"),
    ("ravel", "View"),
    ("region", "AsStrided"),
    ("relu6", "Hardtanh"),
    ("reshape", "View"),
    ("reshape_as", "View"),
    ("selu", "Elu"),
    ("slogdet", "LinalgSlogdet"),
    ("solve", "LinalgSolveEx"),
    ("solve_ex", "LinalgSolveEx"),
    ("solve_triangular", "LinalgSolveTriangular"),
    ("square", "Pow"),
    ("svd", "LinalgSvd"),
    ("swapaxes", "Transpose"),
    ("take_along_dim", "Gather"),
    ("tensor_split", "Split"),
    ("tile", "Repeat"),
    ("to", "ToCopy"),
    ("unflatten", "View"),
    ("vector_norm", "LinalgVectorNorm"),
    ("view_as", "View"),
    ("vstack", "Cat"),
];

/// The name of an operation's step back, in PyTorch's words: with capitals for underscores, and a number that tells an operation's forms apart.
fn backward(node: &Node) -> String {
    if let Some(form) = node.form() {
        return form.into();
    }
    let (called, rank) = (node.called(), node.shape().rank());
    let words = match called {
        "assign" => return "CopyBackwards".into(),
        "index" | "write" if matches!(node.op(), Op::Kernel(Kernel::Write { .. })) => {
            return "CopySlices".into();
        }
        "index" if matches!(node.op(), Op::View(View::Slice { .. })) => "Slice",
        "linear" => "Addmm",
        "matmul" => ["Dot", "Mv", "Mm", "Bmm"][rank.min(3)],
        "grid_sample" => ["GridSampler2D", "GridSampler3D"][usize::from(rank == 5)],
        _ => NAMES.iter().find(|(name, _)| *name == called).map_or("", |(_, words)| words),
    };
    let mut name = String::from(words);
    if words.is_empty() {
        for word in called.split('_') {
            let mut letters = word.chars();
            name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
    }
    // Of the forms that say nothing of themselves.
    let is_second = matches!(called, "max" | "min" | "clamp");
    format!("{name}Backward{}", u8::from(is_second))
}

impl Tensor {
    /// The operation that computed it, where it requires a gradient and is no leaf.
    pub fn grad_fn(&self) -> Option<History> {
        let is_asked = self.requires_grad();
        let node = self.current();
        (is_asked && !self.keeps_grad()).then(|| History::of(&node).0)
    }
}
