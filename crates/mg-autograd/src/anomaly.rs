//! Looking for the operation that made the first NaN.

use crate::tensor::memory::locked;
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Node, Op, Tag};
use mg_kernels::{Algebra, ReduceKind, Row};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

/// What is on: these bits.
static MODE: AtomicU8 = AtomicU8::new(0);
/// NaN is looked for, or lines are shown where gradients fail.
const ANOMALY: u8 = 1;
/// Gradients are looked at for NaN.
const NAN: u8 = 2;
/// Lines are remembered for somebody else: a profile.
const LINES_ONLY: u8 = 4;
/// Lines of nodes by their sequences, as another language knows them.
static LINES: Mutex<VecDeque<(Range<u64>, String)>> = Mutex::new(VecDeque::new());
/// How many are remembered.
const MOST: usize = 1 << 18;

/// Whether NaN is looked for.
#[inline]
pub fn is_on() -> bool {
    MODE.load(Ordering::Relaxed) & ANOMALY != 0
}

/// Whether gradients are looked at.
pub fn checks_nan() -> bool {
    MODE.load(Ordering::Relaxed) & NAN != 0
}

/// Looks for NaN from now on, or no longer: each gradient that `backward` and `grad` compute is looked at, and the first with a NaN is
/// an error that names the operation and the line that called it. Without `check_nan` lines are remembered, and nothing is looked at. All
/// is slower by far: every operation is computed by itself.
pub fn set_detect_anomaly(on: bool, check_nan: bool) {
    set(ANOMALY | NAN, if on { ANOMALY | if check_nan { NAN } else { 0 } } else { 0 });
}

/// Sets some bits of what is on; nothing is remembered where nobody wants it.
fn set(bits: u8, to: u8) {
    let changed = |mode: u8| Some((mode & !bits) | to);
    // Never refused.
    let before = MODE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, changed).unwrap_or_else(|mode| mode);
    if (before & !bits) | to == 0 {
        let lines = std::mem::take(&mut *locked(&LINES));
        drop(lines);
    }
}

/// Whether who calls from another language is to [`note`] lines.
#[inline]
pub fn remembers() -> bool {
    MODE.load(Ordering::Relaxed) != 0
}

/// Remembers lines from now on, or no longer, whether or not NaN is looked for.
pub fn set_remembering(on: bool) {
    set(LINES_ONLY, if on { LINES_ONLY } else { 0 });
}

/// The lines that are remembered, by the sequences of the nodes that they made; what is within another call stands before that.
pub fn lines() -> Vec<(Range<u64>, String)> {
    locked(&LINES).iter().cloned().collect()
}

/// The line in another language that made a node, if it is remembered.
pub(crate) fn noted(node: &Node) -> Option<String> {
    let lines = locked(&LINES);
    // What is within another call was noted first.
    lines.iter().find(|(made, _)| made.contains(&node.sequence())).map(|(_, line)| line.clone())
}

/// Remembers the line, in another language, that made the nodes of these sequences.
pub fn note(made: Range<u64>, line: String) {
    let mut lines = locked(&LINES);
    if lines.len() >= MOST {
        lines.pop_front();
    }
    lines.push_back((made, line));
}

/// While it lives, nodes that are made belong to the line, in another language, that made a node, where lines are remembered: a gradient to
/// the operation that it is of.
pub(crate) struct Belongs(Option<(u64, String)>);

impl Belongs {
    #[inline]
    pub(crate) fn to(node: &Node) -> Belongs {
        let known = if remembers() { noted(node) } else { None };
        Belongs(known.map(|line| (mg_graph::next_sequence(), line)))
    }
}

impl Drop for Belongs {
    fn drop(&mut self) {
        if let Some((before, line)) = self.0.take() {
            let after = mg_graph::next_sequence();
            if after > before {
                note(before..after, line);
            }
        }
    }
}

fn line_of(node: &Node) -> String {
    noted(node).unwrap_or_else(|| node.location().to_string())
}

/// The line that made a node and saved something for its gradient, where lines are remembered; else nothing.
pub(crate) fn saved_at(node: &Node) -> String {
    if is_on() { format!("; it was saved at {}", line_of(node)) } else { String::new() }
}

thread_local! {
    static STALE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Says what an error that is made now is about: what was written over at this time.
pub(crate) fn tell_stale(since: u64) {
    STALE.set(since);
}

/// What the last error of this thread about something that was written over is about, once: the time of the write, for who knows
/// its line in another language.
#[must_use]
pub fn take_stale() -> Option<u64> {
    Some(STALE.replace(0)).filter(|&since| since != 0)
}

/// Whether there is a NaN in a node's value.
fn has_nan(node: &Node) -> Result<bool> {
    if !node.dtype().is_float() || node.is_traced() || node.shape().numel() == 0 {
        return Ok(false);
    }
    let was = mg_graph::set_tracking(false);
    let axes = crate::parts::all_axes(node);
    // Nothing else differs from itself.
    let nan = Node::apply(Row::Ne, &[node, node]).cast(mg_device::DType::F32);
    let any = nan.reduce(ReduceKind::Max, axes, false);
    mg_graph::set_tracking(was);
    let any = any?;
    mg_graph::realize(&[&any])?;
    let Some(Ok(value)) = any.value() else { return Ok(false) };
    let host = crate::Tensor::on(value.clone()).host_value()?;
    Ok(host.buffer.as_slice::<f32>()?.get(host.layout.offset()).is_some_and(|&nan| nan != 0.0))
}

/// Looks at the gradient that an operation has made for one of its operands.
pub(crate) fn look(node: &Node, name: &str, i: usize, share: &Node) -> Result<()> {
    if !checks_nan() || !has_nan(share)? {
        return Ok(());
    }
    let text = format!(
        "Function '{name}' returned nan values in its {i}th output; it was called at {}",
        line_of(node)
    );
    Err(Error::new("backward", ErrorKind::Gradient(text)))
}

/// Looks at what a walk begins with: where it is NaN already, the first operation that has made it so.
pub(crate) fn look_at_root(root: &Node) -> Result<()> {
    if !checks_nan() || !has_nan(root)? {
        return Ok(());
    }
    let all = crate::transform::reached([root], |node| {
        (node.is_tracked() || node.sequence() == root.sequence()) && !matches!(node.tag(), Some(Tag::Call(_)))
    });
    for node in all.values() {
        let made =
            !matches!(node.op(), Op::Source(_) | Op::View(_)) && !matches!(node.tag(), Some(Tag::Owner(_)));
        if made && !node.is_released() && has_nan(node)? {
            let text =
                format!("'{}' made the first nan; it was called at {}", node.op().name(), line_of(node));
            return Err(Error::new("backward", ErrorKind::Gradient(text)));
        }
    }
    Ok(())
}
