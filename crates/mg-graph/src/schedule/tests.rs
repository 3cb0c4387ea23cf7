//! The passes by themselves: what is stored, what shares a launch, in which order, and where it lies. Nothing runs here.

use super::checks::{fail_together, output_depends};
use super::group::{Groups, Split};
use super::share::worth_storing;
use super::store::Alias;
use super::{Graph, grouped, memory, together};
use crate::engine::{Collected, realize, with_plan};
use crate::execute::Whole;
use crate::node::{Node, Value};
use crate::op::Op;
use crate::plan::{Action, Check, Loc, Output, Plan};
use crate::refusal::Refusal;
use mg_device::{Buffer, DType, Device, Layout, Result, Shape};
use mg_kernels::program::{MAX_INPUTS, MAX_VALUES};
use mg_kernels::{Class, Inst, Program, ReduceKind, Row, Val, Value as Computed};

fn ones(dims: &[usize]) -> Node {
    let shape = Shape::of(dims);
    let buffer = Buffer::from_slice(&vec![1.0f32; shape.numel()]).unwrap();
    Node::from_value(Value { buffer, layout: Layout::contiguous(shape) })
}

fn map(row: Row, args: &[&Node]) -> Node {
    Node::map(row, args).unwrap()
}

fn sum(node: &Node, axes: u16) -> Node {
    node.reduce(ReduceKind::Sum, axes, true).unwrap()
}

/// The positions of nodes in the graph that they are collected to.
fn positions<const N: usize>(collected: &Collected, nodes: [&Node; N]) -> [usize; N] {
    nodes.map(|node| collected.nodes.iter().position(|inner| std::ptr::eq(*inner, &*node.0)).unwrap())
}

/// What is there after values have been stored and anchors joined.
fn passes<R>(roots: &[&Node], look: impl FnOnce(&Graph, &[Alias], &Groups) -> R) -> R {
    let looked = with_plan(roots, |_, collected| {
        let (graph, aliases, groups) = grouped(collected, &[]).unwrap();
        look(&graph, &aliases, &groups)
    });
    looked.unwrap().unwrap()
}

fn plan<R>(roots: &[&Node], look: impl FnOnce(&Plan, &Collected) -> R) -> R {
    with_plan(roots, look).unwrap().unwrap()
}

fn anchors(groups: &Groups) -> Vec<usize> {
    (0..groups.of.len()).filter(|&i| groups.of[i].is_some()).collect()
}

#[test]
fn elementwise_work_is_computed_where_it_is_read() {
    let (a, b) = (ones(&[8]), ones(&[8]));
    let product = map(Row::Mul, &[&a, &b]);
    let root = map(Row::Add, &[&product, &a]);
    passes(&[&root], |graph, _, groups| {
        let [a, product, root] = positions(graph.collected, [&a, &product, &root]);
        assert!(graph.known[a] && !graph.stored[a]);
        assert!(graph.is_inlined(product) && graph.stored[root]);
        assert_eq!(anchors(groups), [root]);
    });
}

#[test]
fn what_is_reduced_and_what_kernels_read_is_stored() {
    let (x, w) = (ones(&[4, 6]), ones(&[4, 5]));
    let root = map(Row::Sqrt, &[&x]);
    let total = sum(&root, 0b10);
    let scaled = map(Row::Div, &[&root, &total]);
    let turned = scaled.permute(&[1, 0]).unwrap();
    let product = turned.matmul(&w).unwrap();
    passes(&[&product], |graph, aliases, _| {
        let [root, total, scaled, turned, product] =
            positions(graph.collected, [&root, &total, &scaled, &turned, &product]);
        assert!(graph.stored[total] && graph.stored[product]);
        // The product reads what the view sees, and not the view.
        assert!(graph.stored[scaled] && !graph.stored[turned] && graph.is_inlined(root));
        assert!(aliases.is_empty());
    });
}

#[test]
fn a_long_sum_is_divided() {
    let terms: Vec<Node> = (0..3 * MAX_INPUTS).map(|_| ones(&[16])).collect();
    let mut root = terms[0].clone();
    for term in &terms[1..] {
        root = map(Row::Add, &[&root, term]);
    }
    passes(&[&root], |graph, _, groups| {
        let stored: Vec<usize> = (0..graph.nodes.len()).filter(|&i| graph.stored[i]).collect();
        assert!(stored.len() > 1);
        for &i in &stored {
            let found = graph.reads(i, usize::MAX);
            assert!(found.reads.len() <= MAX_INPUTS && found.inlined.len() < MAX_VALUES, "node {i}");
        }
        assert_eq!(anchors(groups), stored);
    });
}

#[test]
fn a_root_that_is_a_view_is_seen_in_its_base() {
    let x = ones(&[4, 6]);
    let base = map(Row::Sqrt, &[&x]);
    let view = base.permute(&[1, 0]).unwrap();
    passes(&[&view], |graph, aliases, _| {
        let [base, view] = positions(graph.collected, [&base, &view]);
        assert!(graph.stored[base] && !graph.stored[view]);
        assert_eq!(aliases.iter().map(|a| (a.node, a.base)).collect::<Vec<_>>(), [(view, base)]);
    });
    // A number seen many times is filled in.
    let filled = Node::scalar(2.0, DType::F32, Device::cpu(), false).expand(Shape::of(&[3, 3])).unwrap();
    passes(&[&filled], |graph, aliases, _| {
        let [filled] = positions(graph.collected, [&filled]);
        assert!(graph.stored[filled] && aliases.is_empty());
    });
}

#[test]
fn what_no_view_can_be_is_copied_first() {
    let turned = ones(&[4, 6]).permute(&[1, 0]).unwrap();
    let flat = turned.reshape(Shape::of(&[24])).unwrap();
    passes(&[&flat], |graph, aliases, _| {
        let [turned, flat] = positions(graph.collected, [&turned, &flat]);
        assert!(graph.stored[turned] && !graph.stored[flat]);
        assert_eq!(aliases[0].base, turned);
    });
}

#[test]
fn rows_keep_the_results_of_their_reductions() {
    let x = ones(&[6, 50]);
    let most = x.reduce(ReduceKind::Max, 0b10, true).unwrap();
    let e = map(Row::Exp, &[&map(Row::Sub, &[&x, &most])]);
    let total = sum(&e, 0b10);
    let root = map(Row::Div, &[&e, &total]);
    passes(&[&root], |graph, _, groups| {
        let [most, total, root] = positions(graph.collected, [&most, &total, &root]);
        assert_eq!(groups.of[most], groups.of[root]);
        assert_eq!(groups.of[total], groups.of[root]);
        let group = groups.list[groups.of[root].unwrap()].as_ref().unwrap();
        assert_eq!((&group.space[..], group.split), (&[6, 50][..], Split::Inner(0b10)));
    });
}

#[test]
fn neighbours_share_a_launch_where_they_share_an_operand_and_a_space() {
    let (x, y) = (ones(&[6, 50]), ones(&[6, 50]));
    let (root, twice) = (map(Row::Sqrt, &[&x]), map(Row::Add, &[&x, &x]));
    let other = map(Row::Sqrt, &[&y]);
    let all = sum(&x, 0b11);
    let rows = sum(&x, 0b10);
    passes(&[&root, &twice, &other, &all, &rows], |graph, _, groups| {
        let [root, twice, other, all, rows] =
            positions(graph.collected, [&root, &twice, &other, &all, &rows]);
        assert_eq!(groups.of[root], groups.of[twice]);
        assert_ne!(groups.of[root], groups.of[other]);
        // A full sum is cut into chunks of its own, whatever else is computed.
        assert_ne!(groups.of[all], groups.of[rows]);
    });
}

#[test]
fn a_launch_never_waits_for_itself() {
    let (x, w) = (ones(&[5, 5]), ones(&[5, 5]));
    let before = map(Row::Sqrt, &[&x]);
    let product = before.matmul(&w).unwrap();
    let sums = sum(&product, 0b10);
    let after = map(Row::Mul, &[&before, &sums]);
    passes(&[&before, &after], |graph, _, groups| {
        let [before, product, sums, after] = positions(graph.collected, [&before, &product, &sums, &after]);
        assert_ne!(groups.of[before], groups.of[after]);
        assert_ne!(groups.of[before], groups.of[sums]);
        assert_ne!(groups.of[product], groups.of[sums]);
    });
}

#[test]
fn work_after_a_product_is_its_epilogue() {
    let (x, w, bias) = (ones(&[5, 7]), ones(&[7, 3]), ones(&[3]));
    let product = x.matmul(&w).unwrap();
    let shifted = map(Row::Add, &[&product, &bias.expand(Shape::of(&[5, 3])).unwrap()]);
    let root = map(Row::Relu, &[&shifted]);
    passes(&[&root], |graph, _, groups| {
        let [product, root] = positions(graph.collected, [&product, &root]);
        let group = groups.list[groups.of[product].unwrap()].as_ref().unwrap();
        let epilogue = group.epilogue.as_ref().unwrap();
        assert!(group.is_kernel && epilogue.members.iter().any(|member| member.node == root));
    });
}

/// Programs of several kinds with temporary values between them.
fn layers(depth: usize) -> Node {
    let mut x = ones(&[16, 16]);
    let w = ones(&[16, 16]);
    for _ in 0..depth {
        let product = x.matmul(&w).unwrap();
        let total = sum(&product, 0b10);
        let shares = map(Row::Div, &[&product, &total]);
        x = map(Row::Add, &[&shares.permute(&[1, 0]).unwrap(), &x]);
    }
    x
}

#[test]
fn everything_is_written_before_it_is_read() {
    let root = layers(7);
    plan(&[&root], |plan, _| {
        let mut written = vec![false; plan.slots.len()];
        for launch in &plan.launches {
            for bind in launch.inputs() {
                match bind.loc {
                    Loc::Slot(slot) => assert!(written[slot]),
                    Loc::Node(_) | Loc::Product => {}
                    Loc::Stored(node) => panic!("node {node} has no slot"),
                }
            }
            launch.outputs().for_each(|slot| written[slot] = true);
        }
        assert!(written.iter().all(|&w| w));
    });
}

#[test]
fn values_that_live_at_once_do_not_overlap() {
    let root = layers(9);
    plan(&[&root], |plan, _| {
        let mut life: Vec<Option<(usize, usize)>> = vec![None; plan.slots.len()];
        for (at, launch) in plan.launches.iter().enumerate() {
            let read = launch.inputs().filter_map(|bind| match bind.loc {
                Loc::Slot(slot) => Some(slot),
                Loc::Node(_) | Loc::Product | Loc::Stored(_) => None,
            });
            for slot in launch.outputs().chain(read) {
                life[slot] = Some(life[slot].map_or((at, at), |(from, _)| (from, at)));
            }
        }
        let temporary = |s: &usize| !plan.slots[*s].leaves && plan.slots[*s].donor.is_none();
        let temporaries: Vec<usize> = (0..plan.slots.len()).filter(temporary).collect();
        let bytes = |s: usize| plan.slots[s].len * plan.slots[s].dtype.size();
        let [(_, arena)] = plan.arenas[..] else { panic!("one device has one arena") };
        for (i, &a) in temporaries.iter().enumerate() {
            let place = |s: usize| plan.slots[s].offset..plan.slots[s].offset + bytes(s);
            assert!(place(a).end <= arena && place(a).start.is_multiple_of(256));
            for &b in &temporaries[i + 1..] {
                let (Some((from_a, to_a)), Some((from_b, to_b))) = (life[a], life[b]) else { continue };
                let at_once = from_a <= to_b && from_b <= to_a;
                let overlap = place(a).start < place(b).end && place(b).start < place(a).end;
                assert!(!(at_once && overlap), "slots {a} and {b}");
            }
        }
        // Memory is used again: depth does not matter.
        let all: usize = temporaries.iter().map(|&s| bytes(s)).sum();
        assert!(2 * arena <= all, "{arena} of {all} bytes");
    });
    let deep = layers(30);
    let of = |root: &Node| plan(&[root], |plan, _| plan.arenas[0].1);
    assert_eq!(of(&root), of(&deep));
}

#[test]
fn memory_is_taken_over_from_what_dies() {
    let donor = |kept: bool| {
        let x = ones(&[100]);
        let root = map(Row::Sqrt, &[&x]);
        let handle = kept.then(|| x.clone());
        drop(x);
        let donor = plan(&[&root], |plan, _| plan.slots[0].donor.is_some());
        drop(handle);
        donor
    };
    assert!(donor(false) && !donor(true));
}

#[test]
fn independent_updates_are_one_list() {
    let updates: Vec<Node> = (1..6).map(|n| map(Row::Sqrt, &[&ones(&[n * 10])])).collect();
    let roots: Vec<&Node> = updates.iter().collect();
    plan(&roots, |plan, _| {
        let [launch] = &plan.launches[..] else { panic!("{} launches", plan.launches.len()) };
        assert!(matches!(&launch.action, Action::List(list) if list.len() == 5));
    });
}

#[test]
fn neighbours_that_are_alike_are_one_launch() {
    let x = ones(&[4, 6]);
    let products: Vec<Node> = (1..4).map(|n| x.matmul(&ones(&[6, n])).unwrap()).collect();
    let over = products[0].matmul(&ones(&[1, 5])).unwrap();
    let roots: Vec<&Node> = products.iter().chain([&over]).collect();
    let values = with_plan(&roots, |_, collected| {
        let (graph, aliases, groups) = grouped(collected, &[]).unwrap();
        let mut plan = memory::assemble(&graph, groups, aliases).unwrap();
        let outputs: Vec<usize> = plan.launches.iter().flat_map(|launch| launch.outputs()).collect();
        let inputs: usize = plan.launches.iter().map(|launch| launch.inputs().count()).sum();
        together::join_by(&mut plan, |launch| launch.call().map(|_| ()));
        // The last one waits for the first.
        let [all, last] = &plan.launches[..] else { panic!("{} launches", plan.launches.len()) };
        assert!(matches!(&all.action, Action::Together(all) if all.len() == 3) && last.call().is_some());
        assert!(all.outputs().chain(last.outputs()).eq(outputs));
        assert_eq!(all.inputs().chain(last.inputs()).count(), inputs);
        assert_eq!(plan.origins().count(), 4);
        let mut values = vec![];
        let refusal = &mut Refusal::new(false, false);
        let sink = |_: &Output, value: Result<Value>| {
            values.push(value.unwrap().buffer.as_slice::<f32>().unwrap().to_vec())
        };
        plan.execute(collected, Whole::OrParts, &[], refusal, sink).unwrap();
        values
    });
    let wanted = [(4, 6.0), (8, 6.0), (12, 6.0), (20, 6.0)].map(|(count, value)| vec![value; count]);
    assert_eq!(values.unwrap().unwrap(), wanted);
}

#[test]
fn passes_give_the_plan_that_runs() {
    let root = layers(3);
    let launches = plan(&[&root], |plan, _| plan.launches.len());
    passes(&[&root], |_, _, groups| {
        // A launch for each group; independent neighbours may be one list.
        assert!(groups.list.iter().flatten().count() >= launches);
    });
    let again = with_plan(&[&root], |_, collected| {
        let (graph, aliases, groups) = grouped(collected, &[]).unwrap();
        memory::assemble(&graph, groups, aliases).unwrap().launches.len()
    });
    assert_eq!(again.unwrap(), Some(launches));
}

mod splits {
    use super::super::group::Split::{self, *};

    #[test]
    fn only_what_divides_a_space_alike_is_joined() {
        let join = |a: Split, b: Split| {
            let joined = a.join(b, 3);
            assert_eq!(joined, b.join(a, 3), "{a:?} and {b:?}");
            joined
        };
        for split in [None, Inner(0b100), Outer(0b011), Both(0b100), All] {
            assert_eq!(join(None, split), Some(split));
            assert_eq!(join(split, split), Some(split));
        }
        assert_eq!(join(Inner(0b100), Outer(0b011)), Some(Both(0b100)));
        assert_eq!(join(Inner(0b100), Outer(0b001)), Option::None);
        assert_eq!(join(Inner(0b100), Inner(0b110)), Option::None);
        assert_eq!(join(Both(0b100), Inner(0b100)), Some(Both(0b100)));
        assert_eq!(join(Both(0b100), Outer(0b011)), Some(Both(0b100)));
        assert_eq!(join(Both(0b100), Outer(0b001)), Option::None);
        for split in [Inner(0b111), Outer(0b011), Both(0b100)] {
            assert_eq!(join(All, split), Option::None);
        }
    }
}

#[test]
fn what_several_launches_would_compute_of_more_is_worth_storing() {
    let read = |sum: &Node| {
        // Along one axis and along the other: no two share a launch.
        [0b01, 0b10].map(|axes| map(Row::Div, &[sum, &self::sum(&map(Row::Exp, &[sum]), axes)]))
    };
    for (side, is_worth) in [(512, true), (16, false)] {
        let branches = [0; 4].map(|_| ones(&[side, side]));
        let first = map(Row::Add, &[&branches[0], &branches[1]]);
        let second = map(Row::Add, &[&map(Row::Add, &[&first, &branches[2]]), &branches[3]]);
        let roots = [read(&first), read(&second)].concat();
        passes(&roots.iter().collect::<Vec<_>>(), |graph, _, groups| {
            let [second] = positions(graph.collected, [&second]);
            assert!(graph.is_inlined(second));
            assert_eq!(worth_storing(graph, groups).contains(&second), is_worth, "{side}");
        });
    }
}

fn push(program: &mut Program, inst: Inst) -> Val {
    program.values.push(Computed { inst, dtype: DType::F32 });
    (program.values.len() - 1) as Val
}

/// A program of two operands and their sum.
fn of_two() -> Program {
    let mut program = Program::default();
    for i in 0..2 {
        push(&mut program, Inst::Input(i));
    }
    push(&mut program, Inst::Map(Row::Add, [0, 1, 0]));
    program
}

#[test]
fn outputs_fail_together_where_they_are_computed_of_the_same() {
    for (outputs, fallible, together) in [
        (&[2, 2][..], &[0][..], true),
        (&[0, 1], &[], true),
        (&[0, 1], &[1], false),
        (&[0, 2], &[0], true),
        (&[0, 2], &[0, 1], false),
    ] {
        let mut program = of_two();
        program.outputs = outputs.iter().map(|&v| (v, Class::Full)).collect();
        let found = fail_together(&program, |i| fallible.contains(&i));
        assert_eq!(found, together, "{outputs:?} of {fallible:?}");
    }
}

#[test]
fn an_output_depends_on_the_checks_of_what_it_is_computed_from() {
    let mut program = of_two();
    let checked = push(&mut program, Inst::Guard(0, 0));
    program.outputs = [0, 1, 2, checked].map(|v| (v, Class::Full)).to_vec();
    let checks = [Check { value: checked, node: 7 }];
    assert_eq!(output_depends(&program, |i| 1 << i, &checks, 0b100), [0b01, 0b10, 0b11, 0b101]);
}

#[test]
fn values_with_channels_innermost_are_the_same_numbers() {
    let mut seed = 7u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    let numbers = |node: &Node| {
        realize(&[node]).unwrap();
        let value = node.value().unwrap().clone().unwrap();
        let bytes = value.dense_bytes().unwrap();
        bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect::<Vec<f32>>()
    };
    let (mut turned, mut across) = (0, 0);
    for round in 1..400 {
        // Sizes that no other test has, of which one may be 1.
        let dims = [1 + random(3), 5, 3, 3 + 2 * random(2)];
        let leaf = |dims: &[usize], salt: usize| {
            let shape = Shape::of(dims);
            let all: Vec<f32> = (0..shape.numel()).map(|i| ((i * 7 + salt * 13) % 11) as f32 - 4.0).collect();
            let buffer = Buffer::from_slice(&all).unwrap();
            Node::from_value(Value { buffer, layout: Layout::contiguous(shape) })
        };
        let choices: Vec<[usize; 3]> = (0..14).map(|_| [random(7), random(64), random(64)]).collect();
        // The same program twice: all at once, and each value by itself.
        let build = |step: &dyn Fn(&Node)| {
            let mut all = vec![leaf(&dims, 1), leaf(&dims, 2)];
            let channel = leaf(&[5, 1, 1], 3);
            for &[kind, a, b] in &choices {
                let (x, y) = (&all[a % all.len()], &all[b % all.len()]);
                let next = match kind {
                    0 | 1 => map(Row::Add, &[x, y]),
                    2 => map(Row::Maximum, &[x, &channel]),
                    3 => map(Row::Sub, &[x, &sum(y, 0b1101)]),
                    4 => map(Row::Minimum, &[&sum(x, 0b1000), y]),
                    5 => {
                        let last = dims[3];
                        let back = x.slice(3, last - 1, -1, last).unwrap();
                        map(Row::Sub, &[&back, y])
                    }
                    _ => {
                        let flat = x.permute(&[0, 2, 3, 1]).unwrap();
                        let again = map(Row::Neg, &[&flat]).permute(&[0, 3, 1, 2]).unwrap();
                        map(Row::Maximum, &[&again, y])
                    }
                };
                step(&next);
                all.push(next);
            }
            let last = all.pop().unwrap();
            let sums = sum(&last, 0b1101).reshape(Shape::of(&[5])).unwrap();
            // Of equal ones the first, by its place among all.
            let inner = map(Row::Neg, &[&all[all.len() - 1]]);
            let most = inner.reduce(ReduceKind::ArgMax, 0b1111, false).unwrap().cast(DType::F32);
            let last = map(Row::Sub, &[&last, &inner]);
            (last, sums, most)
        };
        let (expected, expected_sums, expected_most) = build(&|node| realize(&[node]).unwrap());
        let expected =
            [numbers(&expected.copy()), numbers(&expected_sums.copy()), numbers(&expected_most.copy())];
        let (found, sums, most) = build(&|_| ());
        let seed = 1 + round as u64 * 977;
        super::channels::forced::with(seed, || {
            passes(&[&found, &sums, &most], |graph, _, _| {
                turned += graph.innermost.iter().filter(|&&i| i).count();
                for i in (0..graph.nodes.len()).filter(|&i| graph.stored[i]) {
                    let Op::Reduce(_, axes) = graph.nodes[i].op else { continue };
                    // Channels are columns where these are kept, and what is reduced has them innermost.
                    let of = graph.sources[i][0];
                    assert!(!graph.across[i] || axes & 0b11 == 1, "axes {axes:b}");
                    assert!(graph.across[i] || !graph.innermost[of] || axes & 0b11 != 1, "axes {axes:b}");
                    across += usize::from(graph.across[i]);
                }
            });
            realize(&[&found, &sums, &most]).unwrap();
        });
        assert_eq!([&found, &sums, &most].map(|node| numbers(&node.copy())), expected, "round {round}");
    }
    assert!(turned > 200 && across > 10, "{turned}, {across}");
}
