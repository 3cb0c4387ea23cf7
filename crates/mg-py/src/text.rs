//! Tokenizers of `mg-nn`.

use std::path::PathBuf;

use mg_autograd::Tensor;
use mg_nn::data::text::{Bpe, Bytes, Characters, Tokenizer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::error::{build, compute};
use crate::files::at;
use crate::tensor::PyTensor;

/// Numbers of a list, or of a tensor of any shape.
fn numbers(py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    match ids.cast::<PyTensor>() {
        Ok(tensor) => {
            let tensor = &tensor.get().t;
            compute(py, || tensor.to_dtype(mg_device::DType::I64).to_vec::<i64>())
        }
        Err(_) => ids.extract(),
    }
}

fn tensor(py: Python<'_>, tokenizer: &dyn Tokenizer, text: &str) -> PyResult<PyTensor> {
    let made = compute(py, || {
        let ids = tokenizer.encode(text)?;
        let n = ids.len();
        Tensor::from_vec(ids, &[n])
    })?;
    Ok(made.into())
}

macro_rules! tokenizers {
    ($($Class:ident;)*) => {$(
        #[pymethods]
        impl $Class {
            /// How many numbers there are.
            #[getter]
            fn vocab_size(&self) -> usize {
                self.0.vocab_size()
            }

            fn __len__(&self) -> usize {
                self.0.vocab_size()
            }

            /// The numbers of a text.
            fn encode(&self, py: Python<'_>, text: &str) -> PyResult<Vec<i64>> {
                compute(py, || self.0.encode(text))
            }

            /// The text of numbers, of a list or a tensor. Bytes that are no UTF-8 become U+FFFD.
            fn decode(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<String> {
                let ids = numbers(py, ids)?;
                compute(py, || self.0.decode(&ids))
            }

            /// The numbers of a text as an int64 tensor of one axis.
            fn __call__(&self, py: Python<'_>, text: &str) -> PyResult<PyTensor> {
                tensor(py, &self.0, text)
            }
        }
    )*};
}
tokenizers! {
    PyBytesTokenizer;
    PyCharacters;
    PyBpe;
}

/// A text's bytes in UTF-8: 256 numbers, and nothing to learn.
///
/// >>> t = mg.tokenizers.Bytes()
/// >>> t.encode("hé"), t.decode([104, 105])
/// ([104, 195, 169], 'hi')
#[pyclass(frozen, name = "Bytes", module = "micrograd_rs.tokenizers")]
pub struct PyBytesTokenizer(Bytes);

#[pymethods]
impl PyBytesTokenizer {
    #[new]
    fn new() -> PyBytesTokenizer {
        PyBytesTokenizer(Bytes)
    }

    fn __repr__(&self) -> &'static str {
        "Bytes()"
    }

    fn __reduce__(slf: &Bound<'_, PyBytesTokenizer>) -> (Py<PyAny>, ()) {
        (slf.get_type().into_any().unbind(), ())
    }
}

/// A number for each character of a text, in the order of their code points.
///
/// Arguments:
///     text: the text
///
/// >>> t = mg.tokenizers.Characters("hello")
/// >>> t.alphabet, t.encode("hello")
/// ('ehlo', [1, 0, 2, 2, 3])
#[pyclass(frozen, name = "Characters", module = "micrograd_rs.tokenizers")]
pub struct PyCharacters(Characters);

#[pymethods]
impl PyCharacters {
    #[new]
    fn new(text: &str) -> PyCharacters {
        PyCharacters(Characters::of(text))
    }

    /// The characters, in the order of their numbers.
    #[getter]
    fn alphabet(&self) -> String {
        self.0.alphabet().iter().collect()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Characters({})", PyString::new(py, &self.alphabet()).repr()?))
    }

    fn __reduce__(slf: &Bound<'_, PyCharacters>) -> (Py<PyAny>, (String,)) {
        (slf.get_type().into_any().unbind(), (slf.get().alphabet(),))
    }
}

/// Byte-level byte pair encoding, as GPT-2 has it.
///
/// >>> t = mg.tokenizers.BPE.train(["low lower lowest"], vocab_size=258)
/// >>> len(t), t.decode(t.encode("low"))
/// (258, 'low')
#[pyclass(frozen, name = "BPE", module = "micrograd_rs.tokenizers")]
pub struct PyBpe(Bpe);

#[pymethods]
impl PyBpe {
    /// Learns from texts: added tokens come first, then the bytes, then what is joined, the most frequent pair first, until there are
    /// `vocab_size` tokens or no pair is met `min_frequency` times. Hugging Face's trainer learns the same.
    #[staticmethod]
    #[pyo3(signature = (texts, vocab_size, special_tokens=vec![], min_frequency=0))]
    fn train(
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        vocab_size: usize,
        special_tokens: Vec<String>,
        min_frequency: u64,
    ) -> PyResult<PyBpe> {
        let all: Vec<String> = match texts.cast::<PyString>() {
            Ok(text) => vec![text.extract()?],
            Err(_) => texts.try_iter()?.map(|text| text?.extract()).collect::<PyResult<_>>()?,
        };
        let special: Vec<&str> = special_tokens.iter().map(String::as_str).collect();
        let texts = all.iter().map(String::as_str);
        compute(py, || Bpe::train(texts, vocab_size, &special, min_frequency)).map(PyBpe)
    }

    /// Reads Hugging Face's `tokenizer.json` with a byte-level BPE model in it. Nothing is put around texts.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<PyBpe> {
        std::fs::File::open(&path).map_err(at(&path))?;
        compute(py, || Bpe::from_file(&path)).map(PyBpe)
    }

    /// Reads the two files that GPT-2 was published with: `vocab.json` and `merges.txt`.
    #[staticmethod]
    fn from_files(py: Python<'_>, vocab: PathBuf, merges: PathBuf) -> PyResult<PyBpe> {
        for path in [&vocab, &merges] {
            std::fs::File::open(path).map_err(at(path))?;
        }
        compute(py, || Bpe::from_files(&vocab, &merges)).map(PyBpe)
    }

    /// Writes a `tokenizer.json`, which Hugging Face's libraries read.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        compute(py, || self.0.save(&path))
    }

    /// The number of a token: an added one, or what it stands for.
    fn token_to_id(&self, py: Python<'_>, token: &str) -> PyResult<Option<i64>> {
        build(py, || Ok(self.0.token_to_id(token)))
    }

    /// The bytes that a number stands for.
    fn id_to_token<'py>(&self, py: Python<'py>, id: i64) -> Option<Bound<'py, PyBytes>> {
        self.0.id_to_token(id).map(|token| PyBytes::new(py, token))
    }

    fn __repr__(&self) -> String {
        format!("BPE of {} tokens", self.0.vocab_size())
    }
}
