"""Writes what follows from the tables of dtypes and operations: the extension's stubs and the operations as functions.

    python tools/stubs.py           writes them
    python tools/stubs.py --check   says whether they are as they would be written

The built package must be importable: what has a row in the op table is asked of it.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

from micrograd_rs import _micrograd_rs as rs

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "python" / "micrograd_rs"

FILLED = ["zeros", "ones", "empty"]
# Those that are declared: what is like another tensor stands here.
DRAWN = ["rand", "randn"]

# Functions that the extension has beside those that are declared in the op table, and that are told of among these.
FUNCTIONS = "is_floating_point max min nonzero numel".split()


KINDS = {
    "tensor": "Tensor",
    "tensors": "Sequence[Tensor]",
    "operand": "_Operand",
    "float": "_float",
    "int": "_int",
    "size": "_int",
    "ints": "_Dims",
    "sizes": "_Sizes",
    "opensizes": "_int | Sequence[_int | None] | None",
    "sections": "_Dims",
    "padding": "_Sizes | str",
    "floats": "_float | Sequence[_float]",
    "spacing": "_float | Sequence[_float] | Sequence[Tensor]",
    "bool": "_bool",
    "text": "str",
    "dtype": "_DType",
    "device": "_Device",
    "order": "_float | str",
    "pairing": "_int | Sequence[_Dims]",
    "generator": "Generator",
    "integers": "Tensor | Sequence[_int]",
}
RETURNS = {
    "tensor": "Tensor",
    "varied": "Any",
    "list": "tuple[Tensor, ...]",
    "bool": "_bool",
    "int": "_int",
    "float": "_float",
    "sizes": "Size",
    "asked": "Tensor",
}
# Where the extension keeps the functions of a place.
PREFIXES = {"function": "", "nn": "_nn_", "linalg": "_linalg_", "special": "_special_", "windows": "_windows_"}


def doc(text: str, indent: str = "        ") -> str:
    lines = text.strip().splitlines()
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""'
    body = [f"{indent}{line}".rstrip() for line in lines[1:]]
    return "\n".join([f'{indent}"""{lines[0]}', *body, f'{indent}"""'])


def parameters(operation: dict) -> list[str]:
    out, by_name = [], False
    for name, kind, default, takes_none, keyword_only in operation["params"]:
        if keyword_only and not by_name:
            out, by_name = [*out, "*"], True
        kind = KINDS[kind] + (" | None" if takes_none or default == "None" else "")
        out.append(f"{name}: {kind}" + ("" if default is None else f" = {default}"))
    return out


def spread(operation: dict, is_function: bool) -> list[list[str]]:
    """The ways in which the parameters can be written: the last list as its items, and as one."""
    params = parameters(operation)
    if not operation["variadic"] or operation["listed"] and is_function:
        return [params]
    # What is by keyword only comes after the list.
    last = max(i for i, param in enumerate(operation["params"]) if not param[4])
    name, kind = operation["params"][last][:2]
    rest = [param for param in params[last + 1 :] if param != "*"]
    forms = [[*params[:last], f"*{name}: {'Tensor' if kind == 'tensors' else '_int'}", *rest], params]
    if not operation["receiver"] and [param[1] for param in operation["params"]] == ["text", "tensors"]:
        # An equation may be told by lists of numbers, one behind each operand.
        forms.append(["operand: Tensor", "/", f"*{name}: Tensor | Sequence[Any]"])
    return forms


def operation_names(operation: dict) -> list[tuple[str, bool]]:
    names = [operation["name"], *operation["aliases"]]
    return [(name, False) for name in names] + [(f"{name}_", True) for name in names if operation["in_place"]]


def returned(operation: dict) -> str:
    if operation["returns"] == "several":
        return "Extreme" if operation["answers"] == ["values", "indices"] else "tuple[Tensor, ...]"
    return RETURNS[operation["returns"]]


def forms_of(operation: dict, answer: str, is_function: bool) -> list[tuple[list[str], str]]:
    """The ways in which an operation is called, and what each answers with."""
    if operation["returns"] == "varied" and operation["answers"] == ["values", "indices"]:
        # Of all elements it is a tensor; along an axis, positions come with it.
        dim, *rest = parameters(operation)
        return [
            ([dim.replace("_int | None = None", "None = None"), *rest], "Tensor"),
            ([dim.replace(" | None = None", ""), *rest], "Extreme"),
        ]
    if operation["name"] == "view":
        # The bits of the elements may be seen as another dtype's.
        return [*((params, answer) for params in spread(operation, is_function)), (["dtype: _DType"], answer)]
    if operation["returns"] != "asked":
        return [(params, answer) for params in spread(operation, is_function)]
    params = parameters(operation)
    names = [param[0] for param in operation["params"]]
    flag = next(i for i, name in enumerate(names) if name.startswith("return_"))
    name, pair = names[flag], "tuple[Tensor, Tensor]"
    # By name, with whatever comes before it; and by position.
    without = [*params[:flag], f"{name}: Literal[False] = False", *params[flag + 1 :]]
    by_name = [*params[:flag], "*", f"{name}: Literal[True]", *params[flag + 1 :]]
    return [(without, "Tensor"), (by_name, pair), (params, f"Tensor | {pair}")]


def written(name: str, first: str, operation: dict, answer: str, text: str, indent: str) -> list[str]:
    forms = forms_of(operation, answer, first != "self")
    out = []
    for params, answer in forms:
        if len(forms) > 1:
            out.append(f"{indent}@overload")
        params = [*([first] if first else []), *params]
        if params and params[-1] == "*":
            params.pop()
        out += [f"{indent}def {name}({', '.join(params)}) -> {answer}:", doc(text, indent + "    ")]
    return out


def methods() -> str:
    out = []
    for operation in rs._operations():
        for name, in_place in operation_names(operation):
            if in_place:
                out += written(name, "self", operation, "Self", getattr(rs.Tensor, name).__doc__, "    ")
            elif "method" in operation["places"]:
                out += written(name, "self", operation, returned(operation), getattr(rs.Tensor, name).__doc__, "    ")
    return "\n".join(out)


def declared_functions() -> str:
    out = []
    for operation in rs._operations():
        places = [PREFIXES[place] for place in operation["places"] if place != "method"]
        for name, in_place in operation_names(operation):
            for prefix in places:
                # A number may stand on the left of what takes one on the right.
                either = not in_place and any(kind == "operand" for _, kind, *_ in operation["params"])
                first = f"input: {'_Operand' if either else 'Tensor'}" if operation["receiver"] else ""
                answer = "Tensor" if in_place else returned(operation)
                out += [*written(prefix + name, first, operation, answer, getattr(rs, prefix + name).__doc__, ""), ""]
    return "\n".join(out).rstrip()


def place(wanted: str) -> list[tuple[str, str]]:
    """The functions of a place: their names, and the extension's."""
    found = []
    for operation in rs._operations():
        if wanted in operation["places"]:
            found += [(name, PREFIXES[wanted] + name) for name, _ in operation_names(operation)]
    return sorted(found)


def filled() -> str:
    out = []
    keywords = [
        "    out: None = None,",
        "    dtype: _DType | None = None,",
        "    device: _Device | None = None,",
        "    requires_grad: _bool = False,",
        "    layout: _Layout | None = None,",
        "    pin_memory: _bool | None = None,",
        "    memory_format: _Format | None = None,",
        ") -> Tensor: ...",
    ]
    for name in FILLED:
        out += ["@overload", f"def {name}(", "    shape: Sequence[_int],", "    /,", "    *,", *keywords]
        out += ["@overload", f"def {name}(", "    *shape: _int,", "    size: _Sizes | None = None,", *keywords, ""]
        out += [f"def {name}_like(", "    input: Tensor,", "    *,", *keywords, ""]
    for name in DRAWN:
        out += [f"def {name}_like(", "    input: Tensor,", "    *,", "    generator: Generator | None = None,", *keywords, ""]
    return "\n".join(out).rstrip()


def with_words(text: str) -> str:
    """Gives every entry that says nothing the words that the extension has for it."""
    out, scope = [], rs
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.startswith("class "):
            scope = getattr(rs, line.split()[1].split("(")[0].rstrip(":"), None)
            said = scope.__doc__ if scope else None
            if said and line.endswith(":") and not lines[i + 1].lstrip().startswith('"""'):
                out += [line, doc(inspect.cleandoc(said), "    ")]
                continue
        elif line and not line[0].isspace() and line[0] not in ")@#":
            scope = rs
        if line.endswith(": ...") and "def " in " ".join(lines[max(0, i - 12) : i + 1]):
            start = next(j for j in range(i, -1, -1) if lines[j].lstrip().startswith("def "))
            name = lines[start].split("def ", 1)[1].split("(", 1)[0]
            said = inspect.getdoc(getattr(scope, name, None)) if not name.startswith("_") else None
            own = line.rstrip()[:-4]
            if said and ".setter" not in lines[start - 1] and ".deleter" not in lines[start - 1]:
                indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())] + "    "
                out += [own, doc(said, indent)]
                continue
        out.append(line)
    return "\n".join(out)


def stubs() -> str:
    text = (HERE / "_micrograd_rs.pyi.in").read_text()
    text = text.replace("    # <operations>", methods())
    text = text.replace("# <dtypes>", "\n".join(f"{dtype.name}: dtype" for dtype in rs._DTYPES))
    text = text.replace("# <filled>", filled()).replace("# <functions>", declared_functions())
    return with_words(text)


def taken(names: list[str]) -> list[str]:
    """The lines that take names over from the extension."""
    return ["from ._micrograd_rs import (", *(f"    {name}," for name in names), ")"]


def module(what: str, imports: list[str], names: list[str]) -> list[str]:
    """The lines that a module of written names begins with."""
    return [
        f'"""{what} Written by tools/stubs.py."""',
        "",
        "from __future__ import annotations",
        "",
        *imports,
        "",
        "__all__ = [",
        *(f'    "{name}",' for name in names),
        "]",
        "",
    ]


def functions() -> str:
    declared = [name for name, _ in place("function")]
    # Those around which others of their names are written are taken from the extension there.
    names = sorted({*declared, *FUNCTIONS}.difference(*map(defined, (PACKAGE / "_functions").glob("*.py"))))
    return "\n".join(module("Operations as functions.", taken(names), names))


def defined(path: Path) -> set[str]:
    """The functions that a module writes itself."""
    return {item.name for item in ast.parse(path.read_text()).body if isinstance(item, ast.FunctionDef)}


def functions_of(wanted: str, what: str, around: set[str] | frozenset[str] = frozenset()) -> str:
    """The operations of a place. Those `around` which others of their names are written are not for everybody."""
    found = place(wanted)
    lines = [
        *module(what, ["from . import _micrograd_rs as _rs"], [name for name, _ in found if name not in around]),
        *(f"{name} = _rs.{inner}" for name, inner in found),
        "",
    ]
    return "\n".join(lines)


def kinds() -> str:
    # `bool` hides what Python calls so: who wants it asks for it.
    names = sorted(dtype.name for dtype in rs._DTYPES if not dtype.name == "bool")
    return "\n".join(module("The dtypes.", taken(names), names))


def main() -> int:
    written = defined(PACKAGE / "functional.py") | defined(PACKAGE / "nn" / "attention" / "varlen.py")
    files = {
        PACKAGE / "_micrograd_rs.pyi": stubs(),
        PACKAGE / "_kinds.py": kinds(),
        PACKAGE / "_ops.py": functions(),
        PACKAGE / "_nn_ops.py": functions_of("nn", "Operations that `nn.functional` has.", written),
        PACKAGE / "_linalg_ops.py": functions_of("linalg", "Operations that `linalg` has."),
        PACKAGE / "_windows_ops.py": functions_of("windows", "Operations that `signal.windows` has."),
        PACKAGE / "_special_ops.py": functions_of("special", "Operations that `special` has."),
    }
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.name} is not what tools/stubs.py writes", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(files[path])
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
