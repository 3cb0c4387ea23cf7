//! Reverse mode: one sweep over the reachable part of the tape, from back to front.
//!
//! A node lies behind its operands (see `tape.rs`), so when the sweep comes to a node, all that uses it has been
//! passed, and its gradient is complete. What is to be visited is one bit a node on a *sheet*, one sheet a page of the
//! tape that the graph has nodes on; the sheet also takes the gradients. A heap says which page comes next. Sheets
//! belong to the sweep, so nothing is locked and any number of threads may sweep over the same values; a leaf is written
//! to once, at the end, by an atomic addition.

use std::cell::Cell;
use std::collections::BinaryHeap;

use super::Value;
use super::op::Form;
use super::tape::{self, Node, Page, SLOTS};

const WORDS: usize = SLOTS.div_ceil(64);

struct Sheet {
    page: *const Page,
    /// The nodes to visit.
    bits: [u64; WORDS],
    grads: [f64; SLOTS],
}

#[derive(Default)]
struct Sweep {
    /// By page id: 1 + the page's sheet, or 0.
    sheet_of: Vec<u32>,
    sheets: Vec<Sheet>,
    free: Vec<u32>,
    /// Pages to come: sequence number and sheet, the newest page on top.
    open: BinaryHeap<(u64, u32)>,
    /// Sheets of leaves.
    leaves: Vec<u32>,
}

thread_local! {
    /// Kept between sweeps for its memory.
    static SWEEP: Cell<Option<Box<Sweep>>> = const { Cell::new(None) };
}

impl Value {
    /// Computes the derivative of this value by every value that it was computed from, and leaves it in their
    /// [`grad`](Value::grad).
    ///
    /// Leaves *accumulate*: two calls give twice the gradient, unless [`zero_grad`](Value::zero_grad) comes between.
    /// All other values, this one among them, are written anew, so any number of calls on one graph is right. Time and
    /// memory are linear in the number of values reached, and the depth of the graph does not matter.
    pub fn backward(&self) {
        self.backward_with(1.0);
    }

    /// [`backward`](Value::backward) from another derivative than 1 of what is differentiated by this value.
    pub fn backward_with(&self, seed: f64) {
        Sweep::with(|sweep| {
            // SAFETY: the handle keeps its node alive, and with it all that is reached from there.
            unsafe {
                sweep.add(self.0.as_ptr(), seed);
                sweep.run(
                    |sweep, node, grad| {
                        node.set_grad(grad);
                        sweep.pull(node, grad);
                    },
                    |leaf, grad| leaf.add_grad(grad),
                );
            }
        });
    }
}

/// All values that `roots` were computed from, and these, each once and behind its operands.
pub(super) fn trace<'a>(roots: impl IntoIterator<Item = &'a Value>) -> Vec<Value> {
    let mut found = Vec::new();
    let mut leaves = Vec::new();
    Sweep::with(|sweep| {
        // SAFETY: the handles keep their nodes alive, and with them all that is reached from there.
        unsafe {
            for root in roots {
                sweep.add(root.0.as_ptr(), 0.0);
            }
            sweep.run(
                |sweep, node, _| {
                    let value = Value::from_ref(node);
                    value.for_each_operand(|v| sweep.add(v.0.as_ptr(), 0.0));
                    found.push(value);
                },
                |leaf, _| leaves.push(Value::from_ref(leaf)),
            );
        }
    });
    leaves.reverse();
    found.append(&mut leaves);
    found.reverse();
    found
}

impl Sweep {
    fn with(f: impl FnOnce(&mut Sweep)) {
        let mut sweep = SWEEP.take().unwrap_or_default();
        if sweep.sheet_of.len() < tape::pages() {
            sweep.sheet_of.resize(tape::pages(), 0);
        }
        f(&mut sweep);
        SWEEP.set(Some(sweep));
    }

    /// Visits all nodes that have been added or are meanwhile, each behind all that use it: `inner` for those with
    /// operands, then `leaf` for the others.
    ///
    /// # Safety
    ///
    /// All nodes that are added are alive and lie before the node being visited.
    #[inline(always)]
    unsafe fn run(
        &mut self,
        mut inner: impl FnMut(&mut Sweep, &Node, f64),
        mut leaf: impl FnMut(&Node, f64),
    ) {
        while let Some((_, s)) = self.open.pop() {
            let s = s as usize;
            let page = self.sheets[s].page;
            for word in (0..WORDS).rev() {
                let mut bit = self.sheets[s].bits[word].checked_ilog2().map_or(0, |top| top as usize + 1);
                // A step a slot, set or not: the processor runs ahead on a guess that is mostly right, while looking for
                // the next set bit would wait for the operands that the last node has just marked.
                while bit > 0 {
                    bit -= 1;
                    let bits = self.sheets[s].bits[word];
                    if bits >> bit & 1 == 0 {
                        continue;
                    }
                    let slot = word * 64 + bit;
                    let grad = self.sheets[s].grads[slot];
                    // SAFETY: a bit is set for nodes that are alive only.
                    inner(self, unsafe { &*tape::node_at(page, slot) }, grad);
                }
            }
            self.close(s);
        }
        while let Some(s) = self.leaves.pop() {
            let s = s as usize;
            let sheet = &mut self.sheets[s];
            for word in 0..WORDS {
                while sheet.bits[word] != 0 {
                    let bit = sheet.bits[word].trailing_zeros() as usize;
                    sheet.bits[word] &= sheet.bits[word] - 1;
                    let slot = word * 64 + bit;
                    // SAFETY: as above.
                    leaf(unsafe { &*tape::node_at(sheet.page, slot) }, sheet.grads[slot]);
                }
            }
            self.close(s);
        }
    }

    /// Adds to a node's gradient, and marks it as one to visit.
    ///
    /// # Safety
    ///
    /// The node is alive until the sweep ends.
    #[inline(always)]
    unsafe fn add(&mut self, node: *const Node, grad: f64) {
        let page = tape::page_of(node);
        // SAFETY: the page of a node.
        let mut s = self.sheet_of[unsafe { tape::page_id(page) }] as usize;
        if s == 0 {
            // SAFETY: the page of a live node.
            s = unsafe { self.open(page) };
        }
        let slot = tape::slot_of(node);
        let sheet = &mut self.sheets[s - 1];
        sheet.bits[slot / 64] |= 1 << (slot % 64);
        sheet.grads[slot] += grad;
    }

    /// Gives the operands of a node what they get of its gradient.
    ///
    /// # Safety
    ///
    /// The node is alive until the sweep ends.
    #[inline(always)]
    unsafe fn pull(&mut self, node: &Node, g: f64) {
        let (op, out) = (node.op, node.data());
        // SAFETY: the operands are what the form says, and live as long as the node.
        unsafe {
            match node.form {
                Form::Leaf => {}
                Form::Unary => {
                    let x = node.a.node;
                    self.add(x, op.grad_x(g, (*x).data(), 0.0, out));
                }
                Form::Both => {
                    let (a, b) = (node.a.node, node.b.node);
                    let (x, y) = ((*a).data(), (*b).data());
                    self.add(a, op.grad_x(g, x, y, out));
                    self.add(b, op.grad_y(g, x, y, out));
                }
                Form::NumberRight => {
                    let x = node.a.node;
                    self.add(x, op.grad_x(g, (*x).data(), node.b.number, out));
                }
                Form::NumberLeft => {
                    let y = node.a.node;
                    self.add(y, op.grad_y(g, node.b.number, (*y).data(), out));
                }
                Form::Spans => {
                    let (weights, inputs) = ((*node.a.span).values(), (*node.b.span).values());
                    for (w, x) in weights.iter().zip(inputs) {
                        self.add(w.0.as_ptr(), g * x.data());
                        self.add(x.0.as_ptr(), g * w.data());
                    }
                    if let Some(bias) = weights.get(inputs.len()) {
                        self.add(bias.0.as_ptr(), g);
                    }
                }
            }
        }
    }

    /// A clean sheet for a page; returns 1 + its index.
    ///
    /// # Safety
    ///
    /// The page has a live node on it.
    #[cold]
    #[inline(never)]
    unsafe fn open(&mut self, page: *const Page) -> usize {
        let sheet = Sheet { page, bits: [0; WORDS], grads: [0.0; SLOTS] };
        let s = match self.free.pop() {
            Some(s) => {
                self.sheets[s as usize] = sheet;
                s
            }
            None => {
                self.sheets.push(sheet);
                self.sheets.len() as u32 - 1
            }
        };
        // SAFETY: as the caller says.
        let (id, seq) = unsafe { (tape::page_id(page), tape::page_seq(page)) };
        self.sheet_of[id] = s + 1;
        if seq == 0 {
            self.leaves.push(s);
        } else {
            self.open.push((seq, s));
        }
        s as usize + 1
    }

    fn close(&mut self, s: usize) {
        // SAFETY: a sheet has the page it was opened for.
        self.sheet_of[unsafe { tape::page_id(self.sheets[s].page) }] = 0;
        self.free.push(s as u32);
    }
}
