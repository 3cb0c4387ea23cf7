"""Functions of functions: derivatives in both modes, of any order, and batches. `torch.func` in PyTorch.

>>> import micrograd_rs as mg
>>> from micrograd_rs.func import grad, vmap
>>> vmap(grad(lambda x: x.sin()))(mg.tensor([0.0, 0.0])).tolist()
[1.0, 1.0]

A function is called once, with stand-ins, and what it has recorded is rewritten; they can be put around each other in any order. Tensors
that the function knows from elsewhere are constants to these derivatives, and `backward` around them still reaches those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from . import _tree
from ._micrograd_rs import Tensor, _Level, _Traced, ones_like
from ._names import Lazy as _Lazy
from .autograd._batches import Batching, VmapInfo, begun

if TYPE_CHECKING:
    from .nn.module import Module

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

__getattr__ = _Lazy(__name__)

def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Has the batch norms in a module normalise by the batch alone, and keep no running statistics, so that functions of it change nothing; answers with
    the module.

    Arguments:
        root: the module

    >>> model = mg.func.replace_all_batch_norm_modules_(mg.nn.Sequential(mg.nn.BatchNorm1d(3)))
    >>> model[0].running_mean is None
    True
    """
    from .nn.norms import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


Argnums = int | tuple[int, ...]

# Kernels whose loop over examples was told of.
_told: set[str] = set()


def _tell(loops: Sequence[str]) -> None:
    """Says once for each kernel that it has no rule for batches."""
    for name in loops:
        if name not in _told:
            _told.add(name)
            from warnings import warn

            warn(f"vmap: {name} has no rule for batches, and runs once for each example", UserWarning, stacklevel=4)


def _check_chunk(name: str, size: int | None) -> None:
    if size is not None and size < 1:
        raise ValueError(f"{name}: chunk_size is a number from 1 on, or None, got {size}")


def _chosen(name: str, args: tuple[Any, ...], argnums: Argnums) -> tuple[tuple[int, ...], Any]:
    """The numbers of the arguments that are differentiated, and what is at them."""
    at = argnums if isinstance(argnums, tuple) else (argnums,)
    if any(type(n) is not int for n in at):
        raise TypeError(f"{name}: argnums is an integer or a tuple of integers, got {argnums!r}")
    for n in at:
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"{name}: argnums names argument {n}, and {len(args)} were given")
    at = tuple(n % len(args) for n in at)
    if len(set(at)) != len(at) or not at:
        raise RuntimeError(f"{name}: argnums names each argument once, got {argnums!r}")
    return at, (tuple(args[n] for n in at) if isinstance(argnums, tuple) else args[at[0]])


class _Call:
    """A call of a function that is differentiated."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        argnums: Argnums,
        has_aux: bool,
    ) -> None:
        at, chosen = _chosen(name, args, argnums)
        leaves, self.spec = _tree.flatten(chosen)
        self.level = _Level(name, _tree.tensors(leaves, f"{name}: arguments that are differentiated"))
        try:
            inside = _tree.unflatten(self.level.inputs(), self.spec)
            given = list(args)
            for n, value in zip(at, inside if isinstance(argnums, tuple) else (inside,), strict=True):
                given[n] = value
            with begun(self.level):
                output: Any = function(*given, **kwargs)
        finally:
            self.level.outside()
        self.aux: Any = None
        if has_aux:
            pair = _tree.items(output) if isinstance(output, tuple) else None
            if pair is None or len(pair) != 2:
                raise RuntimeError(f"{name}: with has_aux the function answers with a pair: the result, and anything else")
            output, aux = pair
            self.aux = self._outside(aux)
        self.output: Any = output
        results, self.made = _tree.flatten(output)
        self.results = _tree.tensors(results, f"{name}: results")

    def _outside(self, tree: Any) -> Any:
        leaves, spec = _tree.flatten(tree)
        at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        for i, t in zip(at, self.level.results([leaves[i] for i in at]), strict=True):
            leaves[i] = t
        return _tree.unflatten(leaves, spec)

    def values(self) -> Any:
        """The function's answer, as the outside has it."""
        return self._outside(self.output)

    def like_inputs(self, tensors: list[Tensor]) -> Any:
        """Tensors put together as the arguments are."""
        return _tree.unflatten(list(tensors), self.spec)


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that answers with the gradient of `func`, whose result is one number, and with that number.

    `argnums` says with respect to which arguments: one, or several in a tuple. With `has_aux` the function answers with a pair, the
    number and anything else, and this one with the gradient and that pair.

    >>> gradient, value = mg.func.grad_and_value(lambda x: (x**2).sum())(mg.tensor([1.0, 2.0]))
    >>> gradient, value
    (tensor([2., 4.]), tensor(5.))

    Arguments:
        func: the function, whose result is one number
        argnums: by which arguments, one or several
        has_aux: whether it answers with a pair, of which the second is handed on
    """

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        call = _Call("grad", func, args, kwargs, argnums, has_aux)
        if not isinstance(call.output, Tensor) or call.output.numel() != 1:
            got = f"shape {list(call.output.shape)}" if isinstance(call.output, Tensor) else type(call.output).__name__
            raise RuntimeError(f"grad: takes a function whose result is one number, got {got}")
        value = call.values()
        found = call.like_inputs(call.level.vjp(call.results, [ones_like(call.output)], True))
        return found, ((value, call.aux) if has_aux else value)

    return gradient


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that answers with the gradient of `func`, whose result is one number.

    `argnums` says with respect to which arguments: one, or several in a tuple. With `has_aux` the function answers with a pair, the
    number and anything else, and this one with the gradient and that.

    >>> import micrograd_rs as mg
    >>> grad(lambda x: x**3)(mg.tensor(2.0)).item()
    12.0

    Arguments:
        func: the function, whose result is one number
        argnums: by which arguments, one or several
        has_aux: whether it answers with a pair, of which the second is handed on
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, rest = both(*args, **kwargs)
        return (found, rest[1]) if has_aux else found

    return gradient


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The result of `func`, and a function from the gradients of the result to those of the arguments.

    With `has_aux` the function answers with a pair, the result and anything else, and that comes third.

    Arguments:
        func: the function
        primals: its arguments
        has_aux: whether it answers with a pair

    >>> value, pull = mg.func.vjp(lambda x: x**2, mg.tensor([1.0, 2.0]))
    >>> value, pull(mg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), (tensor([ 2., 40.]),))
    """
    call = _Call("vjp", func, primals, {}, tuple(range(len(primals))), has_aux)

    def pullback(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> tuple[Any, ...]:
        leaves, spec = _tree.flatten(cotangents)
        if spec != call.made:
            raise RuntimeError("vjp: gradients are put together as the function's result is")
        found: tuple[Any, ...] = call.like_inputs(call.level.vjp(call.results, _tree.tensors(leaves, "vjp: gradients"), False))
        return found

    return (call.values(), pullback, call.aux) if has_aux else (call.values(), pullback)


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """The result of `func`, and how it changes where the arguments change by `tangents`: forward mode, in one pass.

    With `has_aux` the function answers with a pair, the result and anything else, and that comes third.

    Arguments:
        func: the function
        primals: its arguments
        tangents: how they change
        strict: of no effect
        has_aux: whether the function answers with a pair, of which the second is handed on

    >>> mg.func.jvp(lambda x: x**2, (mg.tensor([1.0, 2.0]),), (mg.tensor([1.0, 10.0]),))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    for what, given in (("primals", primals), ("tangents", tangents)):
        kind: Any = type(given)
        if kind is not tuple:
            raise RuntimeError(f"jvp: {what} is a tuple of arguments, got {kind.__name__}")
    call = _Call("jvp", func, primals, {}, tuple(range(len(primals))), has_aux)
    leaves, spec = _tree.flatten(tangents)
    if spec != call.spec:
        raise RuntimeError("jvp: tangents are put together as the arguments are")
    found = call.level.jvp(call.results, _tree.tensors(leaves, "jvp: tangents"), True)
    answer = _tree.unflatten(list(found), call.made)
    return (call.values(), answer, call.aux) if has_aux else (call.values(), answer)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The result of `func`, and a function from tangents of the arguments to those of the result, which calls it no more.

    Arguments:
        func: the function
        primals: its arguments

    >>> value, tangent = mg.func.linearize(lambda x: x**2, mg.tensor([1.0, 2.0]))
    >>> value, tangent(mg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    call = _Call("linearize", func, primals, {}, tuple(range(len(primals))), False)

    def pushforward(*tangents: Any) -> Any:
        leaves, spec = _tree.flatten(tangents)
        if spec != call.spec:
            raise RuntimeError("linearize: tangents are put together as the arguments are")
        return _tree.unflatten(list(call.level.jvp(call.results, _tree.tensors(leaves, "tangents"), False)), call.made)

    return call.values(), pushforward


def _jacobian(name: str, func: Callable[..., Any], argnums: Argnums, has_aux: bool, by_rows: bool, chunk: int | None) -> Callable[..., Any]:
    _check_chunk(name, chunk)

    @wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        call = _Call(name, func, args, kwargs, argnums, has_aux)
        rows, loops = (call.level.rows if by_rows else call.level.columns)(call.results, chunk)
        _tell(loops)
        found = _tree.unflatten([call.like_inputs(row) for row in rows], call.made)
        return (found, call.aux) if has_aux else found

    return jacobian


def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function that answers with the Jacobian of `func`: its result's shape, then the argument's.

    By gradients: one walk over the graph for all elements of the result, in a batch, or in chunks of `chunk_size` of them. `jacfwd` is
    better where the result has more elements than the arguments.

    Arguments:
        func: the function
        argnums: which arguments, a number or several
        has_aux: whether it answers with a pair, of which the second is answered too
        chunk_size: how many rows are computed at a time; all, if it is None

    >>> mg.func.jacrev(lambda x: x**2)(mg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    return _jacobian("jacrev", func, argnums, has_aux, True, chunk_size)


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """As `jacrev`, by tangents, in forward mode: better where the result has more elements than the arguments.

    Random numbers are the same for all tangents, whatever `randomness` says: the function is called once.

    Arguments:
        func: the function
        argnums: which arguments, a number or several
        has_aux: whether it answers with a pair, of which the second is answered too
        chunk_size: how many tangents are computed at once, from 1 on; all, if it is not given

    >>> mg.func.jacfwd(lambda x: x**2)(mg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    return _jacobian("jacfwd", func, argnums, has_aux, False, chunk_size)


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that answers with the second derivatives of `func`: tangents of gradients.

    Arguments:
        func: the function
        argnums: which arguments, a number or several

    >>> mg.func.hessian(lambda x: (x**3).sum())(mg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function of batches, of a function of one example.

    `in_dims` says along which axis the examples of each argument lie, `None` for what is the same for all: one for all arguments, or one
    for each, put together as they are; keyword arguments are the same for all. `out_dims` says where they are to lie in the results. `func` is called once, with tensors
    without that axis, and cannot read their values. `randomness` is `"error"`, or `"different"` or `"same"`: whether each example draws
    random numbers of its own. With `chunk_size` so many examples are computed at once.

    Errors: ArgumentError where `func` reads a value.

    >>> batch = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mg.func.vmap(mg.dot)(batch, batch)
    tensor([ 5., 25.])
    >>> mg.func.vmap(mg.dot, in_dims=(0, None))(batch, batch[0])
    tensor([ 5., 11.])

    Arguments:
        func: the function of one example
        in_dims: along which axis of each argument the examples lie; None for what is the same for all
        out_dims: along which axis those of the results lie
        randomness: "error", "different" or "same" for random numbers of the examples
        chunk_size: how many examples are computed at a time; all, if it is None
    """

    _check_chunk("vmap", chunk_size)

    @wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = _tree.flatten(args)
        each = _tree.items(in_dims)
        if each is not None and len(each) != len(args):
            raise ValueError(f"vmap: in_dims has {len(each)} entries for {len(args)} arguments")
        axes = _tree.broadcast(in_dims if each is None else each, spec, "vmap: in_dims")
        at: list[int] = []
        for i, (leaf, axis) in enumerate(zip(leaves, axes, strict=True)):
            if axis is None:
                continue
            if not isinstance(leaf, Tensor):
                if isinstance(in_dims, int):
                    axes[i] = None
                    continue
                raise ValueError(f"vmap: in_dims has axis {axis} for an argument that is no tensor: {type(leaf).__name__}")
            if not -leaf.ndim <= axis < leaf.ndim:
                raise ValueError(f"vmap: in_dims has axis {axis} for a tensor of shape {list(leaf.shape)}")
            axes[i] = axis % leaf.ndim
            at.append(i)
        sizes = {leaves[i].shape[axes[i]] for i in at}
        if len(sizes) != 1:
            got = f"batches of {sorted(sizes)} examples" if sizes else "no tensor with an axis of examples"
            raise ValueError(f"vmap: takes tensors with the same number of examples, got {got}")
        (size,) = sizes
        given = [leaves[i].movedim(axes[i], 0) for i in at]
        traced = _Traced([leaves[i] for i in at], [axes[i] for i in at])
        try:
            inside = list(leaves)
            for i, t in zip(at, traced.inside(), strict=True):
                inside[i] = t
            batching = Batching(traced, given, VmapInfo(size, randomness))
            with begun(batching):
                output = func(*_tree.unflatten(inside, spec), **kwargs)
            results, made = _tree.flatten(output)
            results = _tree.tensors(results, "vmap: results")
            places = _tree.broadcast(out_dims, made, "vmap: out_dims")
            if any(place is None and traced.differs(t) for t, place in zip(results, places, strict=True)):
                raise ValueError("vmap: out_dims is None for a result that differs from example to example")
            # What the function has written to its arguments is theirs once all results are made.
            written = traced.written()
            results += [inside[at[i]] for i in written]
            step = size if chunk_size is None else chunk_size
            parts: list[list[Tensor]] = [[] for _ in results]
            for start in range(0, max(size, 1), max(step, 1)):
                count = min(step, size - start)
                known = [*given, *batching.more]
                part = known if count == size else [t.narrow(0, start, count) for t in known]
                found, loops = traced.batched(results, part, count, randomness)
                _tell(loops)
                for all_of, one in zip(parts, found, strict=True):
                    all_of.append(one)
        finally:
            traced.end()
        wholes = [_joined(all_of) for all_of in parts]
        for i, value in zip(written, wholes[len(places) :], strict=True):
            given[i].copy_(value)
        answers: list[Any] = []
        for result, whole, place in zip(results, wholes, places, strict=False):
            if place is None:
                answers.append(result)
                continue
            if not -whole.ndim <= place < whole.ndim:
                raise IndexError(f"vmap: out_dims has axis {place} for a result of {whole.ndim} axes")
            answers.append(whole if place == 0 else whole.movedim(0, place))
        return _tree.unflatten(answers, made)

    return batched


def _joined(parts: list[Tensor]) -> Tensor:
    if len(parts) == 1:
        return parts[0]
    from ._ops import cat

    return cat(parts)


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module with other tensors in the place of parameters and buffers, by their names, in one dictionary or in several that name
    different ones.

    What shares a tensor under two names gets the other one under both (and is given one), unless `tie_weights` is off. With `strict` every
    parameter and buffer is named, and nothing else.

    Arguments:
        module: the module
        parameter_and_buffer_dicts: tensors by the names of parameters and buffers
        args, kwargs: what it is called with
        tie_weights: whether parameters that are one tensor get one value
        strict: whether names have to be all, and no others

    >>> layer = mg.nn.Linear(2, 1)
    >>> mg.func.functional_call(layer, {"weight": mg.tensor([[1.0, 2.0]]), "bias": mg.zeros(1)}, (mg.tensor([10.0, 100.0]),))
    tensor([210.])
    """
    given: dict[str, Tensor] = {}
    for one in [parameter_and_buffer_dicts] if isinstance(parameter_and_buffer_dicts, Mapping) else parameter_and_buffer_dicts:
        if twice := [name for name in one if name in given]:
            raise ValueError(f"functional_call: {twice} are in more than one dictionary")
        given.update(one)
    places: dict[str, tuple[Any, str]] = {}
    for prefix, part in module.named_modules():
        for name, kind in part._kinds.items():
            if kind in ("parameter", "buffer", "transient") and isinstance(vars(part).get(name), Tensor):
                places[f"{prefix}.{name}" if prefix else name] = (part, name)
    # A module that is known under two names has its tensors under both.
    for name in given:
        if name not in places:
            owner, _, last = name.rpartition(".")
            found: Any = module
            for step in owner.split(".") if owner else ():
                found = getattr(found, step, None)
            held: Any = getattr(found, last, None)
            if isinstance(held, Tensor):
                places[name] = (found, last)
    unknown = [name for name in given if name not in places]
    missing = [name for name in places if name not in given]
    if strict and (unknown or missing):
        raise RuntimeError(f"functional_call: names that the module does not have: {unknown}, that are not given: {missing}")
    swapped = {name: t for name, t in given.items() if name in places}
    if tie_weights:
        # What a module computes is no tensor that two of them could share.
        tied: dict[int, list[str]] = {}
        for name, place in places.items():
            here: Any = place[0].__dict__.get(place[1])
            if here is not None:
                tied.setdefault(id(here), []).append(name)
        for names in tied.values():
            its = [swapped[name] for name in names if name in swapped]
            if any(t is not its[0] for t in its):
                raise ValueError(f"functional_call: {sorted(names)} are one tensor, and are given several; tie_weights=False takes them")
            if its:
                swapped.update({name: its[0] for name in names})
    before: list[tuple[Any, str, Any]] = [(*places[name], getattr(*places[name])) for name in swapped]
    try:
        for name, t in swapped.items():
            part, last = places[name]
            object.__setattr__(part, last, t)
        alone: tuple[Any, ...] = () if args is None else (args,)
        positional = _tree.items(args, lists=False)
        return module(*(alone if positional is None else positional), **(kwargs or {}))
    finally:
        for part, last, t in before:
            object.__setattr__(part, last, t)


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters of several modules of one make, one after the other along a new first axis, and so their buffers: for `vmap` over
    `functional_call`.

    Arguments:
        models: the modules

    >>> models = [mg.nn.Linear(2, 1) for _ in range(3)]
    >>> parameters, buffers = mg.func.stack_module_state(models)
    >>> parameters["weight"].shape
    (3, 1, 2)
    >>> call = lambda p, b, x: mg.func.functional_call(models[0], (p, b), (x,))
    >>> mg.func.vmap(call, in_dims=(0, 0, None))(parameters, buffers, mg.ones(5, 2)).shape
    (3, 5, 1)
    """
    if not models:
        raise RuntimeError("stack_module_state: takes at least one module")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: takes modules of one class")
    from ._ops import stack

    def stacked(named: list[dict[str, Tensor]], leaf: bool) -> dict[str, Tensor]:
        made = {name: stack([one[name].detach() for one in named]) for name in named[0]}
        return {name: t.requires_grad_(leaf and named[0][name].requires_grad) for name, t in made.items()}

    parameters = stacked([dict(model.named_parameters()) for model in models], True)
    return parameters, stacked([dict(model.named_buffers()) for model in models], False)
