//! What launches of a plan that is run again and again were made as. A launch that is to find all as it was is collected again as it was: nothing
//! of it is looked up, packed or compared.

use crate::node::Value;
use crate::op::SourceKind;
use crate::plan::{ConstBind, Loc, Plan};
use crate::refusal::Asked;
use mg_device::Buffer;
use mg_device::cuda::{Gpu, Mark};
use mg_kernels::library::matmul::Precision;
use smallvec::SmallVec;

/// For all that a plan's launches use, the launches that use it.
pub(crate) struct Users {
    /// By the position of a known value or of an argument among what the run is given.
    of_read: Vec<SmallVec<[u32; 2]>>,
    of_slots: Vec<SmallVec<[u32; 2]>>,
}

/// All that launches can tell of what they are given. Of a value: the address of its buffer, bytes of that, elements to the first one. Of an argument: the
/// bits of a scalar, or the seed and the position of random numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight([u64; 3]);

/// What the launches of a plan have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Of {
    pub(crate) precision: Precision,
    pub(crate) asked: Asked,
}

/// What the launches of a plan were made as, for what.
///
/// Of each launch that has marks, what lies between them in the collection was made for just what is noted here: whoever collects this plan's launches in
/// the same place has this looked at and told of each launch, or lets go of it.
#[derive(Default)]
pub(crate) struct Packed {
    of: Option<Of>,
    read: Vec<Sight>,
    /// Where each slot lies, and whether that is memory of its own.
    slots: Vec<(u64, bool)>,
    /// By launch: where it begins and ends in the collection. Nothing where it has to be made anew.
    launches: Vec<Option<(Mark, Mark)>>,
}

impl Users {
    /// `index` has for each position of the plan's graph where among what the run is given it is.
    pub(crate) fn of(plan: &Plan, index: &[u32], read: usize) -> Users {
        let none = SmallVec::<[u32; 2]>::new();
        let mut users = Users { of_read: vec![none.clone(); read], of_slots: vec![none; plan.slots.len()] };
        for (at, launch) in plan.launches.iter().enumerate() {
            let mut node = |node: usize| {
                let read = index.get(node).and_then(|&at| users.of_read.get_mut(at as usize));
                read.into_iter().for_each(|users| users.push(at as u32));
            };
            for bind in launch.inputs() {
                match bind.loc {
                    Loc::Node(at) => node(at),
                    Loc::Slot(_) | Loc::Stored(_) | Loc::Product => {}
                }
            }
            for bind in launch.programs().iter().flat_map(|program| &program.consts) {
                match *bind {
                    ConstBind::Node(at) => node(at),
                    ConstBind::Literal(_) => {}
                }
            }
            let read = launch.inputs().filter_map(|bind| match bind.loc {
                Loc::Slot(slot) => Some(slot),
                Loc::Node(_) | Loc::Stored(_) | Loc::Product => None,
            });
            for slot in read.chain(launch.outputs()) {
                users.of_slots[slot].push(at as u32);
            }
        }
        users
    }
}

impl Sight {
    pub(crate) fn of_value(value: &Value) -> Sight {
        let buffer = &value.buffer;
        Sight([buffer.address(), buffer.bytes() as u64, value.layout.offset() as u64])
    }

    pub(crate) fn of_argument(kind: &SourceKind) -> Sight {
        Sight(match kind {
            SourceKind::Const { bits, .. } | SourceKind::Live { bits, .. } => [*bits, 0, 0],
            SourceKind::Random { seed, counter, .. } => [*seed, *counter, 0],
            SourceKind::Data | SourceKind::Ramp => [0; 3],
        })
    }
}

impl Packed {
    /// Says what a run finds: what its launches have in common, which of its values and arguments lie where, and where its slots do (those that are
    /// memory of their own have a buffer). Launches that use something that is other than it was are to be made anew.
    pub(crate) fn look(
        &mut self,
        plan: &Plan,
        users: &Users,
        of: Of,
        read: &[Sight],
        slots: &[*mut u8],
        buffers: &[Option<Buffer>],
    ) {
        let slots = slots.iter().zip(buffers).map(|(at, buffer)| (at.addr() as u64, buffer.is_some()));
        let is_known = self.of == Some(of)
            && (self.launches.len(), self.read.len()) == (plan.launches.len(), read.len());
        if !is_known {
            let launches = vec![None; plan.launches.len()];
            *self = Packed { of: Some(of), read: read.to_vec(), slots: slots.collect(), launches };
            return;
        }
        let launches = &mut self.launches;
        let mut anew = |all: &[u32]| all.iter().for_each(|&at| launches[at as usize] = None);
        for ((old, new), all) in self.read.iter_mut().zip(read).zip(&users.of_read) {
            if old != new {
                *old = *new;
                anew(all);
            }
        }
        for ((old, new), all) in self.slots.iter_mut().zip(slots).zip(&users.of_slots) {
            if *old != new {
                *old = new;
                anew(all);
            }
        }
    }

    /// Collects the launches from one on, before `end`, that are as they were; answers with the one to go on with.
    pub(crate) fn again(&self, gpu: &Gpu, at: usize, end: usize) -> usize {
        let known = self.launches.get(at..end).unwrap_or(&[]);
        let known = || known.iter().map_while(Option::as_ref);
        match (known().next(), known().last()) {
            (Some((from, _)), Some((_, to))) if gpu.collect_again(*from, *to) => at + known().count(),
            _ => at,
        }
    }

    /// Says where a launch that was made began and ended in the collection; nothing where it has to be made anew each time.
    pub(crate) fn made(&mut self, at: usize, marks: Option<(Mark, Mark)>) {
        if let Some(launch) = self.launches.get_mut(at) {
            *launch = marks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::with_plan;
    use crate::node::Node;
    use crate::refusal::Refusal;
    use mg_device::{DType, Layout, Shape};
    use mg_kernels::{ReduceKind, Row};

    fn vector(n: usize) -> Node {
        let buffer = Buffer::from_slice(&vec![1.0f32; n]).unwrap();
        Node::from_value(Value { buffer, layout: Layout::contiguous(Shape::of(&[n])) })
    }

    impl Packed {
        fn anew(&self) -> Vec<usize> {
            let all = self.launches.iter().enumerate();
            all.filter(|(_, launch)| launch.is_none()).map(|(at, _)| at).collect()
        }
    }

    /// One launch after the other reads a vector more, and the sum of the one before.
    #[test]
    fn launches_are_made_anew_where_something_that_they_use_is_other_than_it_was() {
        let vectors: Vec<Node> = (1..6).map(|n| vector(10 * n)).collect();
        let mut sum = vectors[0].reduce(ReduceKind::Sum, 1, false).unwrap();
        for vector in &vectors[1..] {
            let shape = vector.shape();
            let more = Node::map(Row::Mul, &[vector, &sum.expand(*shape).unwrap()]).unwrap();
            sum = more.reduce(ReduceKind::Sum, 1, false).unwrap();
        }
        let looked = with_plan(&[&sum], |plan, graph| {
            let known: Vec<usize> = vectors
                .iter()
                .map(|v| graph.nodes.iter().position(|n| std::ptr::eq(*n, &*v.0)).unwrap())
                .collect();
            let mut index = vec![u32::MAX; graph.nodes.len()];
            known.iter().enumerate().for_each(|(at, &node)| index[node] = at as u32);
            let users = Users::of(plan, &index, known.len());
            assert_eq!(plan.launches.len(), vectors.len(), "one launch each");

            let mut read: Vec<Sight> = (0..known.len() as u64).map(|at| Sight([at, 0, 0])).collect();
            let mut slots: Vec<*mut u8> =
                (0..plan.slots.len()).map(std::ptr::without_provenance_mut).collect();
            let mut buffers: Vec<Option<Buffer>> = vec![None; slots.len()];
            let of = |matters, precision| Of { precision, asked: Refusal::new(matters, true).asked() };
            let first = of(false, Precision::Highest);
            let mut packed = Packed::default();
            let mut look = |read: &[Sight], slots: &[*mut u8], buffers: &[Option<Buffer>], of| {
                packed.look(plan, &users, of, read, slots, buffers);
                let anew = packed.anew();
                anew.iter().for_each(|&at| packed.made(at, Some(Default::default())));
                anew
            };
            let all: Vec<usize> = (0..vectors.len()).collect();
            assert_eq!(look(&read, &slots, &buffers, first), all, "nothing was made yet");
            assert_eq!(look(&read, &slots, &buffers, first), []);
            for at in 0..read.len() {
                for word in 0..3 {
                    read[at].0[word] += 100;
                    assert_eq!(look(&read, &slots, &buffers, first), [at]);
                    assert_eq!(look(&read, &slots, &buffers, first), []);
                }
            }
            for slot in 0..slots.len() {
                let uses = |at: &usize| {
                    let launch = &plan.launches[*at];
                    let reads = launch.inputs().any(|bind| bind.loc == Loc::Slot(slot));
                    reads || launch.outputs().any(|output| output == slot)
                };
                let uses: Vec<usize> = all.iter().copied().filter(uses).collect();
                assert!(!uses.is_empty());
                slots[slot] = slots[slot].wrapping_add(1000);
                assert_eq!(look(&read, &slots, &buffers, first), uses);
                buffers[slot] = Some(Buffer::uninit(mg_device::Device::cpu(), DType::U8, 1).unwrap());
                assert_eq!(
                    look(&read, &slots, &buffers, first),
                    uses,
                    "memory of its own is not overwritten"
                );
            }
            assert_eq!(look(&read, &slots, &buffers, of(true, Precision::Highest)), all);
            assert_eq!(look(&read, &slots, &buffers, of(true, Precision::High)), all);
        });
        looked.unwrap();
    }
}
