//! Arguments and answers, as they cross from a language that knows types only when it runs.

use std::fmt;

use crate::generator::Generator;
use crate::operations::Padding;
use crate::ops::Operand;
use crate::tensor::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Result};
use smallvec::SmallVec;

/// What an argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A tensor.
    Tensor,
    /// Several tensors.
    Tensors,
    /// A tensor or a number.
    Operand,
    /// A floating-point number.
    Float,
    /// An integer: an axis, a position, which may count from the end.
    Int,
    /// An integer that is not negative.
    Size,
    /// Several integers: axes, or one.
    Ints,
    /// Several sizes, or one.
    Sizes,
    /// Several sizes, or one, of which some may be left open.
    OpenSizes,
    /// An integer, or several that mean something else.
    Sections,
    /// Sizes, or the word "same" or "valid" for them.
    Padding,
    /// Several floating-point numbers, or one.
    Floats,
    /// Several floating-point numbers, or one; or tensors of one axis.
    Spacing,
    /// A truth value.
    Bool,
    /// A word.
    Text,
    /// A dtype.
    DType,
    /// A device.
    Device,
    /// A number or a word: what norm is meant.
    Order,
    /// How many axes, or a list of axes on each side.
    Pairing,
    /// Integers that may be known to the device alone: a tensor, or a list of them.
    Integers,
    /// A generator of random numbers.
    Generator,
}

/// What norm is meant: a number, or a word such as `"fro"`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Order<'a> {
    /// The order of the norm.
    Number(f64),
    /// Its name.
    Word(&'a str),
}

impl fmt::Display for Order<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Number(number) => write!(f, "{number}"),
            Order::Word(word) => write!(f, "{word:?}"),
        }
    }
}

impl From<f64> for Order<'_> {
    fn from(number: f64) -> Self {
        Order::Number(number)
    }
}

impl<'a> From<&'a str> for Order<'a> {
    fn from(word: &'a str) -> Self {
        Order::Word(word)
    }
}

/// Integers that may be known to the device alone. In Python a list of them will do, too.
#[derive(Clone, Debug)]
pub struct Integers(pub Tensor);

impl From<&Tensor> for Integers {
    fn from(integers: &Tensor) -> Integers {
        Integers(integers.clone())
    }
}

impl<'a> FromArg<'a> for Integers {
    const KIND: Kind = Kind::Integers;
    fn from_arg(arg: &'a Arg<'_>) -> Option<Integers> {
        match arg {
            Arg::Tensor(integers) => Some(Integers((*integers).clone())),
            Arg::Tensors(one) => one.first().cloned().map(Integers),
            _ => None,
        }
    }
}

/// How far points lie from each other along axes.
#[derive(Clone, Copy, Debug)]
pub enum Spacing<'a> {
    /// Evenly, and alike along all axes: their distance.
    Alike(f64),
    /// Evenly: their distance along each axis.
    Even(&'a [f64]),
    /// Where they lie, a tensor of one axis for each.
    At(&'a [Tensor]),
}

/// Which axes of two tensors belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairing<'a> {
    /// So many: the last ones of the first and the first ones of the second.
    Count(usize),
    /// These of the first with those of the second.
    Axes(&'a [isize], &'a [isize]),
}

/// An integer, or several that mean something else: a number of parts, or where they end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sections {
    /// One integer.
    Number(isize),
    /// Several.
    List(SmallVec<[isize; 8]>),
}

impl From<isize> for Sections {
    fn from(number: isize) -> Sections {
        Sections::Number(number)
    }
}
impl From<&[isize]> for Sections {
    fn from(list: &[isize]) -> Sections {
        Sections::List(list.into())
    }
}
impl<const N: usize> From<[isize; N]> for Sections {
    fn from(list: [isize; N]) -> Sections {
        Sections::List(list[..].into())
    }
}

/// An argument that is given.
#[derive(Clone, Default)]
pub enum Arg<'a> {
    /// It is not given: its default holds.
    #[default]
    Missing,
    /// Nothing at all.
    None,
    /// A tensor.
    Tensor(&'a Tensor),
    /// Several tensors.
    Tensors(Vec<Tensor>),
    /// A tensor or a number.
    Operand(Operand),
    /// A floating-point number.
    Float(f64),
    /// An integer.
    Int(i64),
    /// A size.
    Size(usize),
    /// Several integers.
    Ints(SmallVec<[isize; 8]>),
    /// Several sizes.
    Sizes(SmallVec<[usize; 8]>),
    /// Several sizes, some left open.
    OpenSizes(SmallVec<[Option<usize>; 4]>),
    /// An integer, or several that mean something else.
    Sections(Sections),
    /// Several floating-point numbers.
    Floats(SmallVec<[f64; 8]>),
    /// A truth value.
    Bool(bool),
    /// A word.
    Text(&'a str),
    /// A dtype.
    DType(DType),
    /// A device.
    Device(Device),
    /// A list of axes on each side.
    Pair(SmallVec<[isize; 8]>, SmallVec<[isize; 8]>),
    /// A generator of random numbers.
    Generator(&'a Generator),
}

/// The arguments of a call, in the order of the description, after the tensor that it is called on.
pub struct Given<'s, 'a> {
    /// The arguments.
    pub args: &'s [Arg<'a>],
}

impl<'s> Given<'s, '_> {
    /// An argument that has to be given.
    pub(crate) fn take<T: FromArg<'s>>(&self, at: usize) -> Result<T> {
        match self.args.get(at) {
            None | Some(Arg::Missing) => Err(unlike(at)),
            Some(arg) => T::from_arg(arg).ok_or_else(|| unlike(at)),
        }
    }

    /// An argument that has a default; `None` asks for that.
    pub(crate) fn given<T: FromArg<'s>>(&self, at: usize) -> Result<Option<T>> {
        match self.args.get(at) {
            None | Some(Arg::Missing) => Ok(None),
            // A list without axes is what None stands for where all axes are the default.
            Some(Arg::None) if !T::TAKES_NONE => Ok(None),
            Some(arg) => T::from_arg(arg).ok_or_else(|| unlike(at)).map(Some),
        }
    }
}

#[cold]
fn unlike(at: usize) -> Error {
    Error::new(
        "argument",
        ErrorKind::Value(format!("argument {at} is not what the operation's description says")),
    )
}

/// A type that arguments have.
pub trait FromArg<'a>: Sized {
    /// What such an argument is.
    const KIND: Kind;
    /// Whether it may be nothing at all.
    const TAKES_NONE: bool = false;
    /// The argument, if it is of this kind.
    fn from_arg(arg: &'a Arg<'_>) -> Option<Self>;
}

macro_rules! from_arg {
    ($($T:ty: $Kind:ident, $pattern:pat => $value:expr;)*) => {$(
        impl<'a> FromArg<'a> for $T {
            const KIND: Kind = Kind::$Kind;
            fn from_arg(arg: &'a Arg<'_>) -> Option<$T> {
                match arg {
                    $pattern => Some($value),
                    _ => None,
                }
            }
        }
    )*};
}
from_arg! {
    &'a Tensor: Tensor, Arg::Tensor(t) => t;
    &'a [Tensor]: Tensors, Arg::Tensors(t) => t;
    Operand: Operand, Arg::Operand(o) => o.clone();
    f64: Float, Arg::Float(x) => *x;
    i64: Int, Arg::Int(n) => *n;
    isize: Int, Arg::Int(n) => *n as isize;
    usize: Size, Arg::Size(n) => *n;
    &'a [isize]: Ints, Arg::Ints(n) => n;
    &'a [usize]: Sizes, Arg::Sizes(n) => n;
    &'a [Option<usize>]: OpenSizes, Arg::OpenSizes(n) => n;
    Sections: Sections, Arg::Sections(s) => s.clone();
    bool: Bool, Arg::Bool(b) => *b;
    &'a str: Text, Arg::Text(t) => t;
    DType: DType, Arg::DType(d) => *d;
    Device: Device, Arg::Device(d) => *d;
    &'a [f64]: Floats, Arg::Floats(x) => x;
    &'a Generator: Generator, Arg::Generator(g) => g;
}

impl<'a> FromArg<'a> for Order<'a> {
    const KIND: Kind = Kind::Order;
    fn from_arg(arg: &'a Arg<'_>) -> Option<Order<'a>> {
        match arg {
            Arg::Float(p) => Some(Order::Number(*p)),
            Arg::Text(word) => Some(Order::Word(word)),
            _ => None,
        }
    }
}

impl<'a> FromArg<'a> for Spacing<'a> {
    const KIND: Kind = Kind::Spacing;
    fn from_arg(arg: &'a Arg<'_>) -> Option<Spacing<'a>> {
        match arg {
            Arg::Float(distance) => Some(Spacing::Alike(*distance)),
            Arg::Floats(distances) => Some(Spacing::Even(distances)),
            Arg::Tensors(points) => Some(Spacing::At(points)),
            _ => None,
        }
    }
}

impl<'a> FromArg<'a> for Pairing<'a> {
    const KIND: Kind = Kind::Pairing;
    fn from_arg(arg: &'a Arg<'_>) -> Option<Pairing<'a>> {
        match arg {
            Arg::Size(n) => Some(Pairing::Count(*n)),
            Arg::Pair(a, b) => Some(Pairing::Axes(a, b)),
            _ => None,
        }
    }
}

impl<'a> FromArg<'a> for Padding<'a> {
    const KIND: Kind = Kind::Padding;
    fn from_arg(arg: &'a Arg<'_>) -> Option<Padding<'a>> {
        match arg {
            Arg::Sizes(sizes) => Some(Padding::Sizes(sizes)),
            Arg::Text(word) => Some(Padding::Word(word)),
            _ => None,
        }
    }
}

impl<'a, T: FromArg<'a>> FromArg<'a> for Option<T> {
    const KIND: Kind = T::KIND;
    const TAKES_NONE: bool = true;
    fn from_arg(arg: &'a Arg<'_>) -> Option<Option<T>> {
        match arg {
            Arg::None => Some(None),
            arg => T::from_arg(arg).map(Some),
        }
    }
}

/// One tensor, or several, as the arguments ask for: Python answers with the tensor itself where there is one.
#[derive(Clone, Debug)]
pub struct Varied(pub SmallVec<[Tensor; 3]>);

/// What an operation answers with.
pub enum Answer {
    /// A tensor.
    Tensor(Tensor),
    /// Several tensors, each with a meaning of its own.
    Several(SmallVec<[Tensor; 3]>),
    /// A list of tensors.
    List(Vec<Tensor>),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// Sizes.
    Sizes(Vec<usize>),
}

/// What an operation answers with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// A tensor.
    Tensor,
    /// Several tensors, each with a meaning of its own.
    Several,
    /// A tensor, and a second one where an argument `return_…` asks for it.
    Asked,
    /// One tensor, or several, as the arguments ask for.
    Varied,
    /// A list of tensors.
    List,
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    /// A floating-point number.
    Float,
    /// Sizes.
    Sizes,
}

/// A type that operations answer with.
pub trait Returned: Into<Answer> {
    /// What it is.
    const RETURNS: Returns;
}

impl From<Varied> for Answer {
    fn from(Varied(mut tensors): Varied) -> Answer {
        if tensors.len() == 1
            && let Some(alone) = tensors.pop()
        {
            return Answer::Tensor(alone);
        }
        Answer::Several(tensors)
    }
}
impl Returned for Varied {
    const RETURNS: Returns = Returns::Varied;
}

impl From<(Tensor, Option<Tensor>)> for Answer {
    fn from((first, second): (Tensor, Option<Tensor>)) -> Answer {
        Varied(std::iter::once(first).chain(second).collect()).into()
    }
}
impl Returned for (Tensor, Option<Tensor>) {
    const RETURNS: Returns = Returns::Asked;
}

macro_rules! answers {
    ($($T:ty: $Returns:ident, $v:pat => $answer:expr;)*) => {$(
        impl From<$T> for Answer {
            fn from($v: $T) -> Answer {
                Answer::$Returns($answer)
            }
        }
        impl Returned for $T {
            const RETURNS: Returns = Returns::$Returns;
        }
    )*};
}
answers! {
    Tensor: Tensor, t => t;
    (Tensor, Tensor): Several, (a, b) => SmallVec::from_iter([a, b]);
    (Tensor, Tensor, Tensor): Several, (a, b, c) => SmallVec::from_iter([a, b, c]);
    (Tensor, Tensor, Tensor, Tensor): Several, (a, b, c, d) => SmallVec::from_iter([a, b, c, d]);
    Vec<Tensor>: List, list => list;
    bool: Bool, b => b;
    i64: Int, n => n;
    usize: Int, n => n as i64;
    f64: Float, x => x;
    Vec<usize>: Sizes, sizes => sizes;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    fn read(path: &str) -> String {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("it is there")
    }

    fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
        let text = text.split_once(from).unwrap_or_else(|| panic!("{from} is there")).1;
        text.split_once(to).unwrap_or_else(|| panic!("{to} is there")).0
    }

    /// A type without its lifetimes, but for what stands for any type.
    fn plain(ty: &str) -> Option<String> {
        let ty = ty.trim().replace("&'a ", "&").replace("<'a>", "");
        (!ty.contains('$') && ty != "Option<T>").then_some(ty)
    }

    /// The types of rows `T: Kind, …;` of a macro, and of `impl … TRAIT for T {`.
    fn types(source: &str, called: &str, implemented: &str) -> BTreeSet<String> {
        let rows = between(source, &format!("\n{called}! {{\n"), "\n}");
        let rows = rows.lines().filter_map(|line| Some(line.split_once(": ")?.0));
        let written = source.lines().filter_map(|line| {
            let (head, ty) = line.strip_prefix("impl")?.split_once(" for ")?;
            head.ends_with(implemented).then(|| ty.trim_end_matches('{'))
        });
        rows.chain(written).filter_map(plain).collect()
    }

    #[test]
    fn the_page_of_operations_names_all_types_and_words() {
        let page = read("../../docs/add-an-operation.md");
        // Lines are broken anywhere.
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let source = read("src/surface/arguments.rs");
        let (source, _) = source.split_once("\n#[cfg(test)]").expect("tests are at the end");
        let mut missing = BTreeSet::new();

        let arguments = between(&page, "Types of arguments:", "Answers:");
        let taken = types(source, "from_arg", "FromArg<'a>");
        assert!(taken.contains("&[Option<usize>]") && taken.contains("Padding"), "{taken:?}");
        missing.extend(taken.into_iter().filter(|ty| !arguments.contains(&format!("`{ty}`"))));

        let answers = between(&page, "Answers:", "Words of");
        let answered = types(source, "answers", "Returned");
        assert!(answered.contains("(Tensor, Tensor)") && answered.contains("Varied"), "{answered:?}");
        // Three and four tensors are told of with two.
        let told = |ty: &String| answers.contains(&format!("`{ty}`")) || ty.matches("Tensor,").count() > 1;
        missing.extend(answered.into_iter().filter(|ty| !told(ty)));

        let words = between(&page, "Words of", "The body is written");
        let declared = read("../mg-macros/src/declared.rs");
        let arms = between(&declared, "match word.to_string().as_str() {", "_ =>");
        let known = arms
            .lines()
            .filter_map(|line| line.split_once("=>"))
            .flat_map(|(left, _)| left.split('"').skip(1).step_by(2));
        let known: Vec<&str> = known.collect();
        assert!(known.contains(&"windows") && known.contains(&"answers"), "{known:?}");
        let told = |word: &str| {
            [format!("`{word}`"), format!("`{word} "), format!("`{word}(")].iter().any(|w| words.contains(w))
        };
        missing.extend(known.into_iter().filter(|word| !told(word)).map(str::to_owned));

        assert!(missing.is_empty(), "docs/add-an-operation.md does not name {missing:?}");
    }
}
