//! What tensors are called, for errors to tell: a table beside them, since few have a name and none needs it to compute.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{Cell, Tensor};

/// Names of tensors that are there, by address. The weak handle keeps the address from becoming another tensor's.
struct Names {
    by_address: HashMap<usize, (Weak<Cell>, Arc<str>)>,
    /// Those of tensors that are gone are removed when there are as many.
    most: usize,
}

static NAMES: Mutex<Option<Names>> = Mutex::new(None);

/// Whether `long` ends with the path `short`.
fn ends_with_path(long: &str, short: &str) -> bool {
    long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

impl Tensor {
    /// Gives tensors the names that they have in a model, `encoder.3.linear.weight`, for errors to tell. A tensor that has a longer
    /// path with the same end keeps that: a part of a model was asked for its names after the whole.
    pub fn set_names<'a>(named: impl IntoIterator<Item = (&'a str, &'a Tensor)>) {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let names = names.get_or_insert_with(|| Names { by_address: HashMap::new(), most: 1024 });
        for (name, tensor) in named {
            match names.by_address.get_mut(&tensor.id()) {
                Some((_, before)) if ends_with_path(before, name) => {}
                Some((_, before)) => *before = name.into(),
                None => {
                    names.by_address.insert(tensor.id(), (Arc::downgrade(&tensor.0), name.into()));
                }
            }
        }
        if names.by_address.len() >= names.most {
            names.by_address.retain(|_, (cell, _)| cell.strong_count() > 0);
            names.most = 1024.max(2 * names.by_address.len());
        }
    }

    /// The name that it has in a model: see [`Tensor::set_names`].
    ///
    /// ```
    /// use mg_autograd::Tensor;
    ///
    /// let x = Tensor::scalar(1.0f32);
    /// assert_eq!(x.name(), None);
    /// Tensor::set_names([("encoder.scale", &x)]);
    /// Tensor::set_names([("scale", &x)]);
    /// assert_eq!(x.name().as_deref(), Some("encoder.scale"));
    /// ```
    #[must_use]
    pub fn name(&self) -> Option<Arc<str>> {
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, name) = names.as_ref()?.by_address.get(&self.id())?;
        Some(name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tensors_that_are_gone_are_removed() {
        let kept = Tensor::scalar(1.0f32);
        Tensor::set_names([("kept", &kept)]);
        for i in 0..5000 {
            Tensor::set_names([(format!("gone.{i}").as_str(), &Tensor::scalar(0.0f32))]);
        }
        assert_eq!(kept.name().as_deref(), Some("kept"));
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(names.as_ref().is_some_and(|names| names.by_address.len() < 2048));
    }

    #[test]
    fn another_model_renames_what_it_takes() {
        let x = Tensor::scalar(1.0f32);
        for (name, is_called) in [("a.weight", "a.weight"), ("weight", "a.weight"), ("b.weight", "b.weight")]
        {
            Tensor::set_names([(name, &x)]);
            assert_eq!(x.name().as_deref(), Some(is_called));
        }
    }
}
