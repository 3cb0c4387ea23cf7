//! Which operation runs in which dtype within [`autocast`](super::autocast): PyTorch's lists, for each kind of
//! device.
//!
//! What stands on no list runs in the dtypes that it is given, with all that it is composed of.

/// In which dtype an operation runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// In that of its operands, and so does all that it is composed of.
    Own,
    /// In the region's dtype: f16 or bf16.
    Lower,
    /// In the region's dtype where there are several operands: a product of them. One operand is only moved and
    /// added up.
    LowerOfSeveral,
    /// In f32.
    Single,
    /// In the widest among its operands'.
    Widest,
    /// By what it is composed of: each part as if it had been called.
    Parts,
    /// Not at all: in f16 its answers are beyond the dtype's range.
    Refused,
}

/// In which dtype an operation runs on each kind of device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ways {
    /// On the CPU.
    pub cpu: Way,
    /// On CUDA devices.
    pub cuda: Way,
}

impl Ways {
    /// Whether the operation is on a list of either.
    pub(crate) const fn is_listed(self) -> bool {
        !matches!((self.cpu, self.cuda), (Way::Own, Way::Own))
    }
}

/// A list: on which device, in which way, what.
struct List {
    cuda: bool,
    way: Way,
    names: &'static [&'static str],
}

const LISTS: &[List] = &[
    List {
        cuda: false,
        way: Way::Lower,
        names: &[
            "addbmm",
            "addmm",
            "affine_grid",
            "baddbmm",
            "bmm",
            "chain_matmul",
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_transpose1d",
            "conv_transpose2d",
            "conv_transpose3d",
            "inner",
            "linear",
            "lstm",
            "matmul",
            "mm",
            "multi_dot",
            "multi_head_attention_forward",
            "prelu",
            "rnn_relu",
            "rnn_relu_cell",
            "rnn_tanh",
            "rnn_tanh_cell",
            "scaled_dot_product_attention",
            "tensordot",
            "vecdot",
        ],
    },
    List {
        cuda: false,
        way: Way::Single,
        names: &[
            "adaptive_avg_pool3d",
            "adaptive_max_pool3d",
            "avg_pool3d",
            "binary_cross_entropy",
            "binary_cross_entropy_with_logits",
            "cdist",
            "cholesky",
            "cholesky_ex",
            "cholesky_inverse",
            "cholesky_solve",
            "cond",
            "cosine_embedding_loss",
            "cross_entropy",
            "ctc_loss",
            "eigh",
            "eigvalsh",
            "fractional_max_pool2d",
            "fractional_max_pool3d",
            "grid_sample",
            "hinge_embedding_loss",
            "householder_product",
            "huber_loss",
            "inv",
            "inv_ex",
            "inverse",
            "kl_div",
            "l1_loss",
            "lstsq",
            "lu",
            "lu_factor",
            "lu_factor_ex",
            "lu_solve",
            "margin_ranking_loss",
            "matrix_rank",
            "local_response_norm",
            "lp_pool3d",
            "max_pool3d",
            "max_unpool1d",
            "max_unpool2d",
            "max_unpool3d",
            "mse_loss",
            "multi_margin_loss",
            "multilabel_margin_loss",
            "nanquantile",
            "nll_loss",
            "orgqr",
            "pinv",
            "pinverse",
            "poisson_nll_loss",
            "prod",
            "qr",
            "quantile",
            "smooth_l1_loss",
            "soft_margin_loss",
            "solve",
            "solve_ex",
            "svd",
            "svdvals",
            "tensorinv",
            "tensorsolve",
            "trace",
            "triangular_solve",
            "triplet_margin_loss",
        ],
    },
    List { cuda: false, way: Way::Widest, names: &["cat", "index_copy", "stack"] },
    List { cuda: false, way: Way::LowerOfSeveral, names: &["einsum"] },
    List {
        cuda: false,
        way: Way::Parts,
        names: &["corrcoef", "cov", "linear_cross_entropy", "matrix_power"],
    },
    List {
        cuda: true,
        way: Way::Lower,
        names: &[
            "addbmm",
            "addmm",
            "addmv",
            "addr",
            "affine_grid",
            "baddbmm",
            "bmm",
            "chain_matmul",
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_transpose1d",
            "conv_transpose2d",
            "conv_transpose3d",
            "einsum",
            "gru",
            "gru_cell",
            "inner",
            "linear",
            "lstm",
            "lstm_cell",
            "matmul",
            "mm",
            "multi_dot",
            "multi_head_attention_forward",
            "mv",
            "packed_rnn",
            "prelu",
            "rnn_relu",
            "rnn_relu_cell",
            "rnn_tanh",
            "rnn_tanh_cell",
            "scaled_dot_product_attention",
            "vecdot",
        ],
    },
    List {
        cuda: true,
        way: Way::Single,
        names: &[
            "acos",
            "asin",
            "binary_cross_entropy_with_logits",
            "cdist",
            "cosh",
            "cosine_embedding_loss",
            "cosine_similarity",
            "cross_entropy",
            "cumprod",
            "cumsum",
            "dist",
            "erfinv",
            "exp",
            "expm1",
            "group_norm",
            "gumbel_softmax",
            "hinge_embedding_loss",
            "huber_loss",
            "interpolate",
            "kl_div",
            "l1_loss",
            "layer_norm",
            "log",
            "log10",
            "log1p",
            "log2",
            "log_softmax",
            "logsumexp",
            "margin_ranking_loss",
            "matrix_norm",
            "mse_loss",
            "multi_margin_loss",
            "multilabel_margin_loss",
            "nll_loss",
            "norm",
            "normalize",
            "pairwise_distance",
            "pdist",
            "poisson_nll_loss",
            "pow",
            "prod",
            "reciprocal",
            "renorm",
            "rms_norm",
            "rsqrt",
            "sinh",
            "smooth_l1_loss",
            "soft_margin_loss",
            "softmax",
            "softmin",
            "softplus",
            "square",
            "sum",
            "tan",
            "triplet_margin_loss",
            "vector_norm",
        ],
    },
    List {
        cuda: true,
        way: Way::Widest,
        names: &[
            "addcdiv",
            "addcmul",
            "atan2",
            "bilinear",
            "cross",
            "dot",
            "grid_sample",
            "index_put",
            "scatter_add",
            "tensordot",
        ],
    },
    List { cuda: true, way: Way::Parts, names: &["corrcoef", "cov", "linear_cross_entropy", "matrix_power"] },
    List { cuda: true, way: Way::Refused, names: &["binary_cross_entropy"] },
];

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// In which dtype the operation of this name runs.
#[must_use]
pub const fn ways(name: &str) -> Ways {
    let mut ways = Ways { cpu: Way::Own, cuda: Way::Own };
    let mut list = 0;
    while list < LISTS.len() {
        let List { cuda, way, names } = &LISTS[list];
        let mut i = 0;
        while i < names.len() {
            if same(names[i], name) {
                if *cuda {
                    ways.cuda = *way;
                } else {
                    ways.cpu = *way;
                }
            }
            i += 1;
        }
        list += 1;
    }
    ways
}

/// Every name on the lists of the CPU, or of CUDA devices.
pub fn listed(cuda: bool) -> impl Iterator<Item = (&'static str, Way)> {
    LISTS.iter().filter(move |list| list.cuda == cuda).flat_map(|list| {
        let way = list.way;
        list.names.iter().map(move |&name| (name, way))
    })
}
