"""Loss curves beside PyTorch's, from the same first weights and on the same batches: whether training is the same.

    python3 curves.py [mlp cnn lstm gpt resnet] [--steps 100] [--device cuda] [--double] [--text FILE]
    python3 curves.py --spread f32 tf32 bf16 --steps 500 --device cuda --text FILE

Networks are those of `steps.py`, small. Images are drawn, each kind's about one of its own; letters are of a text, which is `steps.py` itself if no
other is given. `first` and `all` are the largest differences of losses from PyTorch's in the first twenty steps and in all; `order` is what
PyTorch's own losses differ by, all steps, if the same batches have their rows in another order, which changes the roundings of sums alone;
`jit` is whether a replayed step's losses are those of a step that is not, to the last bit.

`--spread` trains the whole GPT of `steps.py` five times in each library, from the same first weights on batches that are drawn anew each time, and
says where the losses end: the mean of the last twenty.
"""

import argparse
import pathlib

import numpy as np
import torch
from steps import case, networks, training

import micrograd_rs as mg


def images(steps, batch, shape, kinds):
    """Batches of drawn images: each kind's about one of its own."""
    draw = np.random.default_rng(1)
    middle = draw.random((kinds, *shape), dtype=np.float32)
    for _ in range(steps):
        y = draw.integers(0, kinds, batch)
        yield (middle[y] + draw.standard_normal((batch, *shape), dtype=np.float32) * 0.5).astype(np.float32), y


def letters(steps, batch, context, text, most, seed=1):
    """Batches of parts of a text, and the letters after each."""
    draw = np.random.default_rng(seed)
    known = sorted(set(text), key=lambda letter: -text.count(letter))[: most - 1]
    ids = np.array([known.index(letter) if letter in known else most - 1 for letter in text])
    for _ in range(steps):
        at = draw.integers(0, len(ids) - context - 1, batch)
        yield np.stack([ids[i : i + context] for i in at]), np.stack([ids[i + 1 : i + 1 + context] for i in at])


def batches(name, options):
    """The batches of a network."""
    _, _, (x, y) = case(name, True)
    if x.ndim == 2:
        return list(letters(options.steps, x.shape[0] * 4, x.shape[1], options.text.read_text(encoding="utf-8"), 65))
    return list(images(options.steps, x.shape[0] * 4, x.shape[1:], 10))


def losses(library, name, state, data, options, jit=False):
    """The loss of each step."""
    network, arguments, _ = case(name, True)
    number = library.float64 if options.double else library.float32
    model = networks(library)[network](*arguments).to(options.device).to(number)
    model.load_state_dict({key: library.as_tensor(array).to(options.device) for key, array in state.items()})
    optimiser = library.optim.SGD(model.parameters(), lr=0.002, momentum=0.9) if name == "resnet" else library.optim.AdamW(model.parameters(), lr=1e-3)
    step = training(library, model, optimiser, "", options.device)
    run = mg.jit(step) if jit else step
    curve = []
    for x, y in data:
        x, y = library.as_tensor(x).to(options.device), library.as_tensor(y).to(options.device)
        curve.append(run(x.to(number) if x.is_floating_point() else x, y).item())
    return np.array(curve)


def end(library, products, state, data, options):
    """The mean of the last twenty losses of the whole GPT; ours is replayed."""
    network, arguments, _ = case("gpt", options.tiny)
    tf32 = products == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    mg.set_float32_matmul_precision("high" if tf32 else "highest")
    model = networks(library)[network](*arguments).to(options.device)
    model.load_state_dict({key: library.as_tensor(array).to(options.device) for key, array in state.items()})
    optimiser = library.optim.AdamW(model.parameters(), lr=3e-4)
    step = training(library, model, optimiser, products, options.device)
    run = mg.jit(step) if library is mg else step
    last = []
    for x, y in data:
        loss = run(library.as_tensor(x).to(options.device), library.as_tensor(y).to(options.device))
        last = [*last[-19:], loss.detach()]
    return float(np.mean([float(loss) for loss in last]))


def spread(options):
    """Where five trainings of each library end."""
    _, (letters_, context, *_), (x, _) = case("gpt", options.tiny)
    state = first_state("gpt", False, options.tiny)
    text = options.text.read_text(encoding="utf-8")
    print("| products | PyTorch, five runs | ours, five runs | mean, PyTorch | mean, ours |")
    print("| --- | --- | --- | ---: | ---: |")
    for products in options.spread:
        runs = {torch: [], mg: []}
        for seed in range(5):
            data = list(letters(options.steps, len(x), context, text, letters_, seed))
            for library, ends in runs.items():
                ends.append(end(library, products, state, data, options))
        ranges = " | ".join(f"{min(ends):.4f} to {max(ends):.4f}" for ends in runs.values())
        print(f"| {products} | {ranges} | " + " | ".join(f"{np.mean(ends):.4f}" for ends in runs.values()) + " |", flush=True)


def first_state(name, double, tiny=True):
    """PyTorch's own first weights."""
    network, arguments, _ = case(name, tiny)
    torch.manual_seed(0)
    model = networks(torch)[network](*arguments)
    if double:
        model = model.double()
    return {key: value.numpy().copy() for key, value in model.state_dict().items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=["mlp", "cnn", "lstm", "gpt", "resnet"])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--double", action="store_true", help="in f64")
    parser.add_argument("--text", type=pathlib.Path, default=pathlib.Path(__file__).with_name("steps.py"))
    parser.add_argument("--spread", nargs="+", choices=["f32", "tf32", "bf16"], help="the whole GPT, in these products")
    parser.add_argument("--tiny", action="store_true", help="for --spread: a small one")
    options = parser.parse_args()
    if options.spread:
        return spread(options)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print("| network | loss, first | last, PyTorch | last, ours | first | all | order | jit |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for name in options.networks:
        data, state = batches(name, options), first_state(name, options.double)
        theirs = losses(torch, name, state, data, options)
        turned = losses(torch, name, state, [(x[::-1].copy(), y[::-1].copy()) for x, y in data], options)
        ours = losses(mg, name, state, data, options)
        replayed = losses(mg, name, state, data, options, jit=True)
        apart, order = np.abs(ours - theirs), np.abs(turned - theirs).max()
        same = "same" if np.array_equal(ours, replayed) else f"{np.abs(ours - replayed).max():.1e} apart"
        ends = f"{theirs[0]:.4f} | {theirs[-1]:.4f} | {ours[-1]:.4f}"
        print(f"| {name} | {ends} | {apart[:20].max():.1e} | {apart.max():.1e} | {order:.1e} | {same} |", flush=True)


if __name__ == "__main__":
    main()
