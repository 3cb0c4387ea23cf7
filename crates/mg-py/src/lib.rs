//! The wheel `micrograd_rs`: the engine under PyTorch's names.
//!
//! This crate converts and checks; what is computed is the engine's. Python's part of the package is in `python/micrograd_rs`; what is here
//! is its module `_micrograd_rs`. Every call into the engine goes through `error.rs`.

// What is said of what Python sees is Python's documentation, with its examples.
#![allow(clippy::doc_lazy_continuation)]

mod about;
mod amp;
mod arith;
mod attributes;
mod autocast;
mod choice;
mod custom;
mod data;
mod device;
mod dlpack;
mod dtype;
mod error;
mod explain;
mod export;
mod factory;
mod files;
mod format;
mod func;
mod grad;
mod import;
mod index;
mod init;
mod jit;
mod keeper;
mod kernel;
mod metrics;
mod nested;
mod onnx;
mod optim;
mod profile;
mod random;
mod reduce;
mod scalar;
mod scaled;
mod show;
mod size;
mod surface;
mod switch;
mod table;
mod tensor;
mod text;
mod turns;
mod view;
mod watch;
mod writes;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

#[pymodule(gil_used = false)]
mod _micrograd_rs {
    #[pymodule_export]
    use crate::amp::PyGradScaler;
    #[pymodule_export]
    use crate::attributes::_list_names_of_tensors;
    #[pymodule_export]
    use crate::autocast::{
        _autocast_lists, clear_autocast_cache, get_autocast_dtype, is_autocast_cache_enabled,
        is_autocast_enabled, set_autocast_cache_enabled, set_autocast_dtype, set_autocast_enabled,
    };
    #[pymodule_export]
    use crate::choice::{nonzero, r#where};
    #[pymodule_export]
    use crate::custom::{_multi_grad_hook, PyBegun, PyHandle, PyHistory, PySaved};
    #[pymodule_export]
    use crate::data::{_batch, _image, PyTable, read_csv};
    #[pymodule_export]
    use crate::device::{
        PyDevice, get_default_device, get_float32_matmul_precision, set_default_device,
        set_float32_matmul_precision,
    };
    #[pymodule_export]
    use crate::dlpack::from_dlpack;
    #[pymodule_export]
    use crate::dtype::{PyDType, can_cast, get_default_dtype, promote_types, result_type, set_default_dtype};
    #[pymodule_export]
    use crate::error::{_after_fork, _before_fork};
    #[pymodule_export]
    use crate::explain::{PyExplanation, explain};
    #[pymodule_export]
    use crate::export::{_rebuild, from_numpy};
    #[pymodule_export]
    use crate::factory::{
        arange, as_tensor, broadcast_shapes, empty, empty_like, eye, full, full_like, linspace, ones,
        ones_like, rand_like, randint, randn_like, tensor, zeros, zeros_like,
    };
    #[pymodule_export]
    use crate::files::{
        _batches, _drawn_digits, _from_safetensors_bytes, _mnist, _read_idx, _safetensors_bytes,
        _save_sharded, PyMapped, PyPages, PySharded, load_safetensors, save_safetensors,
    };
    #[pymodule_export]
    use crate::format::{PyLayout, PyMemoryFormat};
    #[pymodule_export]
    use crate::func::{_anomaly_mode, _checkpoint, _is_tracing, _set_detect_anomaly, PyLevel, PyTraced};
    #[pymodule_export]
    use crate::grad::{
        _clip_grad_value, _clip_grads_with_norm, _total_norm, backward, grad, is_grad_enabled, realize,
    };
    #[pymodule_export]
    use crate::init::{
        _embedding_parameters, _layer_defaults, _layer_norm_parameters, _linear_parameters, calculate_gain,
        constant_, dirac_, eye_, kaiming_normal_, kaiming_uniform_, normal_, ones_, orthogonal_, sparse_,
        trunc_normal_, uniform_, xavier_normal_, xavier_uniform_, zeros_,
    };
    #[pymodule_export]
    use crate::jit::{_is_recording, _looks_at_state, _needs_values, PyJit, jit};
    #[pymodule_export]
    use crate::kernel::{_elementwise, PyBuilder, PyKernel, PyRaw};
    #[pymodule_export]
    use crate::metrics::PyMetric;
    #[pymodule_export]
    use crate::onnx::PyExporter;
    #[pymodule_export]
    use crate::optim::{
        _is_same, _optimizer_defaults, _optimizer_memory, PyAlone, PyLBFGS, PyOptimizer, PySchedule,
    };
    #[pymodule_export]
    use crate::profile::{_profile_start, _profile_stop, PyProfile};
    #[pymodule_export]
    use crate::random::{
        _default_generator, _draw_from, PyGenerator, get_rng_state, initial_seed, manual_seed, seed,
        set_rng_state,
    };
    #[pymodule_export]
    use crate::reduce::{max, min};
    #[pymodule_export]
    use crate::scalar::mlp::{PyLayer, PyMLP, PyNeuron};
    #[pymodule_export]
    use crate::scalar::state::{_rebuild_value, Graph};
    #[pymodule_export]
    use crate::scalar::value::PyValue;
    #[pymodule_export]
    use crate::scaled::_scaled_mm;
    #[pymodule_export]
    use crate::show::{get_num_threads, set_num_threads, set_printoptions};
    #[pymodule_export]
    use crate::surface::{_old_reduction, _operations, _rows};
    #[pymodule_export]
    use crate::switch::{PySwitch, is_inference_mode_enabled};
    #[pymodule_export]
    use crate::table::{_embedding_renorm, _scale_grad_by_freq};
    #[pymodule_export]
    use crate::tensor::{PyTensor, is_floating_point, numel};
    #[pymodule_export]
    use crate::text::{PyBpe, PyBytesTokenizer, PyCharacters};
    #[pymodule_export]
    use crate::turns::PyTurns;
    #[pymodule_export]
    use crate::watch::{
        _svg_confusion_matrix, _svg_curves, _svg_histogram, _svg_images, _svg_scatter, PyBar, PyEventWriter,
        PyHistoryOfSteps,
    };

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::listen(module.py())?;
        crate::surface::install(module)?;
        let dtypes = mg_device::DType::ALL.map(|dtype| crate::dtype::object(module.py(), dtype));
        let dtypes = dtypes.into_iter().collect::<PyResult<Vec<_>>>()?;
        for dtype in &dtypes {
            module.add(dtype.get().0.long_name(), dtype)?;
        }
        module.add("_DTYPES", PyTuple::new(module.py(), dtypes)?)?;
        use crate::format::{PyLayout, PyMemoryFormat};
        for format in [
            PyMemoryFormat::contiguous_format,
            PyMemoryFormat::preserve_format,
            PyMemoryFormat::channels_last,
            PyMemoryFormat::channels_last_3d,
        ] {
            module.add(format.name(), format)?;
        }
        module.add("strided", PyLayout::strided)?;
        module.add("ArgumentError", crate::error::argument_error(module.py())?)?;
        module.add("EmptyError", crate::error::empty_error(module.py())?)?;
        module.add("DTypeError", crate::error::dtype_error(module.py())?)?;
        module.add("LinAlgError", module.py().get_type::<crate::error::LinAlgError>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
