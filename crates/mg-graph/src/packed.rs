//! What launches of a plan that is run again and again were made as. A launch that is to find all as it was is collected again as it was: nothing
//! of it is looked up, packed or compared.

use crate::op::SourceKind;
use crate::plan::{ConstBind, Loc, Plan};
use crate::precision::matmul_precision;
use mg_device::cuda::{Gpu, Mark};
use mg_device::{Buffer, Device};
use mg_kernels::library::matmul::Precision;
use smallvec::SmallVec;

use crate::node::Value;

/// Which launches use what of a plan.
pub(crate) struct Users {
    /// By the position of a known value or of an argument among what the run is given.
    read: Vec<SmallVec<[u32; 2]>>,
    slots: Vec<SmallVec<[u32; 2]>>,
}

/// All that launches can tell of a known value or of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sight([u64; 3]);

/// What the launches of a plan were made as, for what.
#[derive(Default)]
pub(crate) struct Packed {
    read: Vec<Sight>,
    /// Where each slot lies, and whether that is memory of its own.
    slots: Vec<(u64, bool)>,
    precision: Option<Precision>,
    gathered: Option<Device>,
    /// By launch: where it begins and ends in the collection. Nothing where it has to be made anew.
    launches: Vec<Option<(Mark, Mark)>>,
}

impl Users {
    /// `index` has for each position of the plan's graph where among what the run is given it is.
    pub(crate) fn of(plan: &Plan, index: &[u32], read: usize) -> Users {
        let mut users =
            Users { read: vec![SmallVec::new(); read], slots: vec![SmallVec::new(); plan.slots.len()] };
        for (at, launch) in plan.launches.iter().enumerate() {
            let mut node = |node: usize| {
                let read = index.get(node).and_then(|&at| users.read.get_mut(at as usize));
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
                users.slots[slot].push(at as u32);
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
    /// Says what a run finds: which of its values and arguments lie where, where its slots do (those that are memory of their own have a buffer),
    /// and whether a device's word tells what checks before it have refused. Launches that used something that is other than it was are made anew.
    pub(crate) fn look(
        &mut self,
        plan: &Plan,
        users: &Users,
        read: &[Sight],
        slots: &[*mut u8],
        buffers: &[Option<Buffer>],
        gathered: Option<Device>,
    ) {
        let slots = slots.iter().zip(buffers).map(|(at, buffer)| (at.addr() as u64, buffer.is_some()));
        let precision = Some(matmul_precision());
        let is_known = (self.precision, self.gathered) == (precision, gathered)
            && (self.launches.len(), self.read.len()) == (plan.launches.len(), read.len());
        if !is_known {
            let launches = vec![None; plan.launches.len()];
            *self = Packed { read: read.to_vec(), slots: slots.collect(), precision, gathered, launches };
            return;
        }
        let launches = &mut self.launches;
        let mut anew = |users: &[u32]| users.iter().for_each(|&at| launches[at as usize] = None);
        for ((old, new), users) in self.read.iter_mut().zip(read).zip(&users.read) {
            if old != new {
                *old = *new;
                anew(users);
            }
        }
        for ((old, new), users) in self.slots.iter_mut().zip(slots).zip(&users.slots) {
            if *old != new {
                *old = new;
                anew(users);
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
