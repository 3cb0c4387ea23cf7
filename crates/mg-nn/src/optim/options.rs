//! Options by name: what a binding to another language reads and writes.

/// An option's value, as it is between languages.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// No value.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
    /// Several.
    List(Vec<OptionValue>),
}

/// Options with names.
pub trait Options: Clone + PartialEq + Default + Send + Sync + 'static {
    /// The names, in the order they are declared in.
    const FIELDS: &'static [&'static str];

    /// The option of a name.
    fn get(&self, name: &str) -> Option<OptionValue>;

    /// Sets the option of a name.
    ///
    /// # Errors
    ///
    /// What the option takes, where the value is no such thing.
    fn set(&mut self, name: &str, value: &OptionValue) -> std::result::Result<(), String>;
}

/// A type that options have.
pub trait OptionType: Sized {
    /// What such an option takes, in words.
    const TAKES: &'static str;
    /// As it is between languages.
    fn value(&self) -> OptionValue;
    /// The reverse.
    fn of(value: &OptionValue) -> Option<Self>;
}

impl OptionType for f64 {
    const TAKES: &'static str = "a number";
    fn value(&self) -> OptionValue {
        OptionValue::Float(*self)
    }
    fn of(value: &OptionValue) -> Option<f64> {
        match value {
            OptionValue::Float(x) => Some(*x),
            OptionValue::Int(n) => Some(*n as f64),
            OptionValue::None | OptionValue::Bool(_) | OptionValue::Text(_) | OptionValue::List(_) => None,
        }
    }
}

impl OptionType for bool {
    const TAKES: &'static str = "True or False";
    fn value(&self) -> OptionValue {
        OptionValue::Bool(*self)
    }
    fn of(value: &OptionValue) -> Option<bool> {
        if let OptionValue::Bool(b) = value { Some(*b) } else { None }
    }
}

impl OptionType for u64 {
    const TAKES: &'static str = "an integer of at least 0";
    fn value(&self) -> OptionValue {
        OptionValue::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }
    fn of(value: &OptionValue) -> Option<u64> {
        if let OptionValue::Int(n) = value { u64::try_from(*n).ok() } else { None }
    }
}

impl OptionType for i64 {
    const TAKES: &'static str = "an integer";
    fn value(&self) -> OptionValue {
        OptionValue::Int(*self)
    }
    fn of(value: &OptionValue) -> Option<i64> {
        if let OptionValue::Int(n) = value { Some(*n) } else { None }
    }
}

impl OptionType for usize {
    const TAKES: &'static str = "an integer of at least 0";
    fn value(&self) -> OptionValue {
        OptionValue::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }
    fn of(value: &OptionValue) -> Option<usize> {
        if let OptionValue::Int(n) = value { usize::try_from(*n).ok() } else { None }
    }
}

impl<T: OptionType> OptionType for Option<T> {
    const TAKES: &'static str = T::TAKES;
    fn value(&self) -> OptionValue {
        self.as_ref().map_or(OptionValue::None, OptionType::value)
    }
    fn of(value: &OptionValue) -> Option<Option<T>> {
        if *value == OptionValue::None { Some(None) } else { T::of(value).map(Some) }
    }
}

impl<T: OptionType + Clone + PartialEq, const N: usize> OptionType for [T; N] {
    const TAKES: &'static str = "one value, or one for each axis";
    fn value(&self) -> OptionValue {
        match &self[..] {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => first.value(),
            all => OptionValue::List(all.iter().map(OptionType::value).collect()),
        }
    }
    fn of(value: &OptionValue) -> Option<[T; N]> {
        let all: Option<Vec<T>> = match value {
            OptionValue::List(items) => items.iter().map(T::of).collect(),
            one => T::of(one).map(|one| vec![one; N]),
        };
        all?.try_into().ok()
    }
}

impl<A: OptionType, B: OptionType> OptionType for (A, B) {
    const TAKES: &'static str = "a pair";
    fn value(&self) -> OptionValue {
        OptionValue::List(vec![self.0.value(), self.1.value()])
    }
    fn of(value: &OptionValue) -> Option<(A, B)> {
        let OptionValue::List(items) = value else { return None };
        let [a, b] = &items[..] else { return None };
        Some((A::of(a)?, B::of(b)?))
    }
}

impl<A: OptionType, B: OptionType, C: OptionType> OptionType for (A, B, C) {
    const TAKES: &'static str = "three numbers";
    fn value(&self) -> OptionValue {
        OptionValue::List(vec![self.0.value(), self.1.value(), self.2.value()])
    }
    fn of(value: &OptionValue) -> Option<(A, B, C)> {
        let OptionValue::List(items) = value else { return None };
        let [a, b, c] = &items[..] else { return None };
        Some((A::of(a)?, B::of(b)?, C::of(c)?))
    }
}

/// A struct of options with their defaults, which are read and written by name too.
macro_rules! options {
    ($(#[$meta:meta])* $Name:ident { $($(#[$doc:meta])* $field:ident: $T:ty = $default:expr,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Name {
            $($(#[$doc])* pub $field: $T,)+
        }

        impl Default for $Name {
            fn default() -> $Name {
                $Name { $($field: $default,)+ }
            }
        }

        impl $crate::optim::Options for $Name {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field),)+];

            fn get(&self, name: &str) -> Option<$crate::optim::OptionValue> {
                match name {
                    $(stringify!($field) => Some($crate::optim::OptionType::value(&self.$field)),)+
                    _ => None,
                }
            }

            fn set(
                &mut self,
                name: &str,
                value: &$crate::optim::OptionValue,
            ) -> std::result::Result<(), String> {
                match name {
                    $(stringify!($field) => match <$T as $crate::optim::OptionType>::of(value) {
                        Some(value) => {
                            self.$field = value;
                            Ok(())
                        }
                        None => Err(<$T as $crate::optim::OptionType>::TAKES.to_string()),
                    },)+
                    _ => Err("no value: there is no such option".to_string()),
                }
            }
        }
    };
}
pub(crate) use options;
