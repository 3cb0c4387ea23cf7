"""Names: modules that are imported when they are first used, and what is said about names that nobody knows."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that `what` does not have."""
    from difflib import get_close_matches

    public = [k for k in known if not k.startswith("_")]
    folded = {k.lower().replace("_", ""): k for k in public}
    same = folded.get(name.lower().replace("_", ""))
    near = [same] if same else get_close_matches(name, public, n=1, cutoff=0.6)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"{what} has no attribute '{name}'{hint}"


class Lazy:
    """A module's `__getattr__`: imports its submodules when they are asked for, and what it has of them."""

    def __init__(
        self,
        module: str,
        submodules: tuple[str, ...] = (),
        members: dict[str, str] | None = None,
        families: dict[str, str] | None = None,
    ) -> None:
        self.module = module
        self.submodules = submodules
        self.members = members or {}
        # Submodules that have all members whose names begin so.
        self.families = families or {}

    def __call__(self, name: str) -> object:
        if name in self.submodules:
            from importlib import import_module

            return import_module(f"{self.module}.{name}")
        if name in self.members:
            from importlib import import_module

            # Kept, so that a submodule of that name does not stand for it from then on.
            value = getattr(import_module(f"{self.module}.{self.members[name]}"), name)
            setattr(sys.modules[self.module], name, value)
            return value
        for start, where in self.families.items():
            if name.startswith(start):
                from importlib import import_module

                found: object = getattr(import_module(f"{self.module}.{where}"), name, None)
                if found is not None:
                    return found
        if name.startswith("__"):
            raise AttributeError(f"module '{self.module}' has no attribute '{name}'")
        known = [*vars(sys.modules[self.module]), *self.submodules, *self.members]
        raise AttributeError(unknown(f"module '{self.module}'", name, known))


def unknown_member(obj: object, name: str) -> str:
    """What to say of an attribute that an object does not have."""
    kind = type(obj)
    return unknown(f"'{kind.__name__}'", name, dir(kind))
