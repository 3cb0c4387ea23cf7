"""Models of a folder that has a `hubconf.py`, and weights of files. Nothing is fetched from the network: what is not on this machine is an error that says
where to put it.

>>> import micrograd_rs as mg, pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     written = pathlib.Path(folder, "hubconf.py").write_text('''
... import micrograd_rs as mg
... def small(width=4):
...     "A layer."
...     return mg.nn.Linear(width, 1)
... ''')
...     model = mg.hub.load(folder, "small", width=3, source="local")
>>> model
Linear(in_features=3, out_features=1, bias=True)
"""

from __future__ import annotations

import builtins
import os
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn
from urllib.parse import urlparse
from urllib.request import url2pathname

from ._names import Lazy as _Lazy
from .serialization import load as _load

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

__getattr__ = _Lazy(__name__)

_folder: str | None = None


def get_dir() -> str:
    """The folder that weights are looked for in: what `set_dir` said, or PyTorch's, `$TORCH_HOME/hub`, by default `~/.cache/torch/hub`.

    See `set_dir`.
    """
    if _folder is not None:
        return _folder
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    home = os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))
    return os.path.join(home, "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Looks for weights in another folder.

    Arguments:
        d: the folder

    >>> before = mg.hub.get_dir()
    >>> mg.hub.set_dir("weights")
    >>> mg.hub.get_dir()
    'weights'
    >>> mg.hub.set_dir(before)
    """
    global _folder
    _folder = _path(d)


def _not_fetched(what: str, repo: object) -> NoReturn:
    raise RuntimeError(f"hub.{what}: {repo!r} is not fetched from the network: clone it, and pass its folder with source='local'")


def _path(folder: str | os.PathLike[str]) -> str:
    return os.path.expanduser(os.fspath(folder))


def _hubconf(what: str, folder: str) -> ModuleType:
    """The folder's `hubconf.py`, executed."""
    path = os.path.join(folder, "hubconf.py")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"hub.{what}: there is no {path}")
    spec = spec_from_file_location("hubconf", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    # It imports what is beside it.
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _entries(module: ModuleType) -> builtins.list[str]:
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def _entry(what: str, module: ModuleType, model: str) -> Any:
    # PyTorch is what this package stands for.
    needed = [name for name in getattr(module, "dependencies", ()) if name != "torch"]
    missing = [name for name in needed if name not in sys.modules and find_spec(name) is None]
    if missing:
        raise RuntimeError(f"hub.{what}: {module.__file__} needs {', '.join(missing)}, which cannot be imported")
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"hub.{what}: {module.__file__} has no {model!r}; it has {', '.join(sorted(_entries(module)))}")
    return found


def load(
    repo_or_dir: str | os.PathLike[str],
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Calls the function `model` of `hubconf.py` in the folder `repo_or_dir`, which is executed, with `args` and `kwargs`, and answers with what it does.

    `source` has to be `"local"`: that of a repository on GitHub, which is PyTorch's default, is a RuntimeError. So are a `model` that there is none of, and
    `dependencies` of the `hubconf.py` that are not installed; a folder without a `hubconf.py` is a FileNotFoundError, another `source` a ValueError. What
    else PyTorch takes is about repositories, and changes nothing.

    Arguments:
        trust_repo, force_reload, verbose, skip_validation: of no effect

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = open(os.path.join(folder, "hubconf.py"), "w").write("def tiny(n): return n")
    >>> mg.hub.load(folder, "tiny", 3, source="local")
    3
    """
    if source not in ("github", "local"):
        raise ValueError(f"hub.load takes 'local' as source, got {source!r}")
    if source == "github":
        _not_fetched("load", repo_or_dir)
    folder = _path(repo_or_dir)
    module = _hubconf("load", folder)
    sys.path.insert(0, folder)
    try:
        return _entry("load", module, model)(*args, **kwargs)
    finally:
        sys.path.remove(folder)


def list(
    github: str | os.PathLike[str],
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    verbose: bool = True,
    *,
    source: str = "github",
) -> builtins.list[str]:
    """The names that `load` takes of a folder's `hubconf.py`. With `source="local"`, which PyTorch's has not: see `load`.

    Arguments:
        github: the folder
        force_reload, skip_validation, trust_repo, verbose: of no effect
        source: "local"

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = open(os.path.join(folder, "hubconf.py"), "w").write("def tiny(n): return n")
    >>> mg.hub.list(folder, source="local")
    ['tiny']
    """
    if source != "local":
        _not_fetched("list", github)
    return _entries(_hubconf("list", _path(github)))


def help(
    github: str | os.PathLike[str],
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    *,
    source: str = "github",
) -> str | None:
    """What the function `model` of a folder's `hubconf.py` says of itself. With `source="local"`, which PyTorch's has not: see `load`.

    Arguments:
        github: the folder
        model: the function's name
        force_reload, skip_validation, trust_repo: of no effect
        source: "local"

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = open(os.path.join(folder, "hubconf.py"), "w").write("def tiny(n): 'A tiny model.'; return n")
    >>> mg.hub.help(folder, "tiny", source="local")
    'A tiny model.'
    """
    if source != "local":
        _not_fetched("help", github)
    found: str | None = _entry("help", _hubconf("help", _path(github)), model).__doc__
    return found


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> NoReturn:
    """RuntimeError: nothing is fetched.

    Arguments:
        url, dst, hash_prefix, progress: as in PyTorch

    >>> try:
    ...     mg.hub.download_url_to_file("https://example.org/weights.pt", "weights.pt")
    ... except RuntimeError:
    ...     print("nothing is fetched")
    nothing is fetched
    """
    raise RuntimeError(f"hub.download_url_to_file: {url} is not fetched from the network: download it to {dst}")


def load_state_dict_from_url(
    url: str,
    model_dir: str | os.PathLike[str] | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """The weights of a file that was downloaded before: of `file_name`, or of the last part of `url`, in `model_dir`, or in `checkpoints` of `get_dir()`, where
    PyTorch puts it. A `url` that begins with `file://` is the file itself. Where there is none it is a RuntimeError, which says where it is looked for; else it is
    read as `load` reads it.

    `check_hash` is a ValueError where the file's content is not what its name says. Files are never executed, so `weights_only` changes nothing.

    Arguments:
        map_location: where tensors go
        progress: of no effect

    >>> import os, pathlib, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    >>> mg.save({"a": mg.tensor([1, 2])}, path)
    >>> mg.hub.load_state_dict_from_url(pathlib.Path(path).as_uri())
    {'a': tensor([1, 2])}
    """
    parts = urlparse(url)
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else os.fspath(model_dir)
    path = url2pathname(parts.path) if parts.scheme == "file" else os.path.join(folder, file_name or os.path.basename(parts.path))
    if not os.path.exists(path):
        raise RuntimeError(f"hub.load_state_dict_from_url: {url} is not fetched from the network: download it to {path}, or load() the file")
    if check_hash:
        _check_hash(path)
    return _load(path, map_location=map_location)


def _check_hash(path: str) -> None:
    import hashlib
    import re

    said = re.search(r"-([a-f0-9]*)\.", os.path.basename(path))
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if said and not digest.startswith(said[1]):
        raise ValueError(f"hub.load_state_dict_from_url: {path} has the SHA-256 {digest}, which does not begin with {said[1]}: download it anew")
