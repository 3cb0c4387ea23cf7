//! Elementwise work that kernels do before they store their results: matrix products, and convolutions on CUDA.

use super::Graph;
use super::group::{
    Embed, Group, Groups, Member, Space, Split, dense_strides, kind_of, lies, read_strides, squeeze,
};
use crate::kernel::Kernel;
use crate::op::Op;
use mg_device::{DType, Layout, Result};
use mg_kernels::ReduceKind;
use mg_kernels::library::{Library, Shaped};
use smallvec::SmallVec;

/// Operations for each element from which on few of a GPU's warps have results to store: blocks share tiles, and large ones.
const DEEP: u64 = 2048;
/// Operands as large as the result of which an epilogue's warps, each of which waits for its own, become slower than a program
/// of its own over what the product has stored.
const MANY: usize = 2;
/// Elements from which more operands than that are read sooner by a program of its own, however few operations there are (an optimiser's
/// step behind the gradient of a weight).
const SEVERAL: usize = 1 << 20;
/// Elements from which on work that reads or writes more than the result's own elements is sooner done by itself, of halves.
const LARGE: usize = 1 << 24;
/// Bytes of a result that are not all in the second-level cache when it is read again.
const FAR: usize = 32 << 20;

/// The kernel that a node is, if it takes an epilogue.
fn taking<'a>(graph: &'a Graph, node: usize) -> Result<Option<&'a Library>> {
    let Op::Kernel(Kernel::Library(kernel)) = &graph.nodes[node].op else { return Ok(None) };
    let capability = graph.nodes[node].device.compute_capability()?.map(|(major, minor)| major * 10 + minor);
    let takes = kernel.takes_epilogue(&operands(graph, node), capability, graph.innermost[node]);
    Ok(Some(kernel).filter(|_| takes))
}

/// Shapes and dtypes of what a kernel reads.
fn operands(graph: &Graph, node: usize) -> SmallVec<[Shaped; 4]> {
    let shaped = |&i: &usize| Shaped { shape: graph.nodes[i].shape, dtype: graph.nodes[i].dtype };
    graph.sources[node].iter().map(shaped).collect()
}

/// Whether values of the product's shape that a group reads lie as the product does: of others, each element would be another line of memory.
fn lie_alike(graph: &Graph, product: usize, group: &Group) -> bool {
    let is_alike = |&i: &usize| {
        graph.nodes[i].shape != graph.nodes[product].shape || graph.innermost[i] == graph.innermost[product]
    };
    graph.nodes[product].device.is_cpu() || group.inputs.iter().all(is_alike)
}

/// Whether a product's kernel is to add up these columns of what it stores: floats, in f32, and so many that reading them again takes longer than
/// what joins the tiles' sums. That comes behind the product, where a program of its own runs beside what else reads the result.
fn takes_sum(graph: &Graph, product: usize, node: usize) -> bool {
    let (inner, product) = (graph.nodes[node], graph.nodes[product]);
    let narrow = matches!(inner.dtype, DType::F32 | DType::F16 | DType::BF16);
    let bytes = product.shape.numel().saturating_mul(product.dtype.size());
    product.device.is_cuda() && narrow && bytes >= FAR && kind_of(graph, node) == Some(ReduceKind::Sum)
}

/// Whether a product does a group's work sooner than a program over what the product has stored; it then stores so many values of its size.
fn pays(graph: &Graph, kernel: &Library, product: usize, group: &Group, stores: usize) -> bool {
    if !graph.nodes[product].device.is_cuda() {
        return true;
    }
    let elements = graph.nodes[product].shape.numel();
    let is_own = |i: usize| i == product || group.members.iter().any(|m| m.node == i);
    let is_whole = |i: usize| graph.nodes[i].shape.numel() >= elements && !graph.argument[i];
    let whole = group.inputs.iter().filter(|&&i| !is_own(i) && is_whole(i)).count();
    let each = kernel.flops(&operands(graph, product)).unwrap_or(0) / elements.max(1) as u64;
    // Their products are done so soon that tensor cores wait for what is read and written beside.
    let waits = graph.nodes[product].dtype.size() == 2 && elements >= LARGE && whole + stores > 1;
    let are_many = elements >= SEVERAL && whole > MANY;
    whole <= kernel.most_read_behind() && !waits && !are_many && (each < DEEP || whole < MANY)
}

impl Groups {
    /// Gives kernels that take them the elementwise groups that read their results in place.
    ///
    /// # Errors
    ///
    /// What asking a device for its capability fails with.
    pub(super) fn attach_epilogues(&mut self, graph: &Graph) -> Result<()> {
        for id in 0..self.list.len() {
            let Some(kernel) = self.list[id].as_ref().filter(|g| g.is_kernel) else { continue };
            let product = kernel.members[0].node;
            let Some(library) = taking(graph, product)? else { continue };
            let space = squeeze(&graph.nodes[product].shape);
            let own = lies(graph, product);
            // A processor's panels are of the product's own space.
            let on_cuda = graph.nodes[product].device.is_cuda();
            let size: usize = space.iter().product();
            let fits_in =
                |other: &Space| *other == space || on_cuda && other.iter().product::<usize>() == size;
            let readers = self.readers[product].clone();
            for &reader in &readers {
                let Some(group) = self.list[reader].as_ref().filter(|g| !g.is_kernel && fits_in(&g.space))
                else {
                    continue;
                };
                let is_plain = |node: usize| !graph.innermost[product] && !graph.innermost[node];
                let in_place = |m: &Member| {
                    m.embed == Embed::Same
                        && (is_plain(m.node) || group.space == space && lies(graph, m.node) == own)
                        && m.reads.iter().filter(|(i, _)| *i == product).all(|(i, path)| {
                            let dense = Layout::contiguous(graph.nodes[*i].shape);
                            read_strides(graph, dense, path, m.embed, Split::None, group.space.len())
                                .is_some_and(|(s, offset)| offset == 0 && s == dense_strides(&group.space))
                        })
                };
                let reduces = |m: &Member| kind_of(graph, m.node).is_some();
                let mut whole = true;
                let fits = match group.split {
                    Split::None => group.members.iter().all(in_place),
                    // Elementwise work goes to the product, which then need not be written and read again. A sum over columns goes with
                    // it where kernels have a place for one, others read what the product stores.
                    Split::Outer(over) => {
                        let (sums, maps): (Vec<&Member>, Vec<&Member>) =
                            group.members.iter().partition(|m| reduces(m));
                        let on_sums =
                            |m: &&Member| m.reads.iter().any(|(i, _)| sums.iter().any(|s| s.node == *i));
                        let on_product = |m: &&Member| m.reads.iter().any(|(i, _)| *i == product);
                        let over_rows =
                            over + 1 == 1 << (group.space.len() - 1) && group.space.last() == space.last();
                        let sum = sums.first().filter(|m| sums.len() == 1 && over_rows && in_place(m));
                        whole = sum.is_some_and(|m| takes_sum(graph, product, m.node));
                        maps.iter().copied().all(in_place)
                            && maps.iter().any(on_product)
                            && !maps.iter().any(on_sums)
                            && (whole || !sums.iter().any(on_product))
                    }
                    Split::Inner(_) | Split::Both(_) | Split::All => false,
                };
                let maps = group.members.iter().filter(|m| !reduces(m)).count();
                let stores = maps + usize::from(readers.len() > 1);
                let pays =
                    fits && lie_alike(graph, product, group) && pays(graph, library, product, group, stores);
                // What nobody else reads is waited for by nobody else.
                let is_shared = self.is_read_beside(product, reader);
                if pays && !(is_shared && self.waits_by_another(reader, id)) {
                    let reader = if whole { reader } else { self.without_sums(graph, reader) };
                    let epilogue = self.list[reader].take();
                    if let (Some(epilogue), Some(kernel)) = (epilogue, self.list[id].as_mut()) {
                        for member in &epilogue.members {
                            self.of[member.node] = Some(id);
                        }
                        // Those alone tell of it: there may be thousands of others.
                        for &input in epilogue.inputs.iter() {
                            self.readers[input].iter_mut().filter(|r| **r == reader).for_each(|r| *r = id);
                        }
                        kernel.epilogue = Some(Box::new(epilogue));
                    }
                    break;
                }
            }
        }
        Ok(())
    }

    /// Gives the reductions of a group to groups of their own; answers with the group of the rest.
    fn without_sums(&mut self, graph: &Graph, id: usize) -> usize {
        let Some(group) = self.list[id].take_if(|g| g.split != Split::None) else { return id };
        self.reads_no_more(&group.inputs, id);
        let (sums, maps): (Vec<Member>, Vec<Member>) =
            group.members.into_iter().partition(|m| kind_of(graph, m.node).is_some());
        let mut rest: Option<usize> = None;
        for map in maps {
            let new = self.add(graph, map.node);
            rest = Some(match rest {
                // What was one group with more is one without.
                Some(rest) if self.try_rejoin(graph, rest, new) => rest,
                Some(rest) => rest,
                None => new,
            });
        }
        let mut before: Option<usize> = None;
        for sum in sums {
            let new = self.add(graph, sum.node);
            // Of what is read once for several.
            before = before.filter(|&before| self.try_rejoin(graph, before, new)).or(Some(new));
        }
        rest.unwrap_or(id)
    }
}
