"""When a profile records, and where what it recorded goes."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from .._micrograd_rs import Device

if TYPE_CHECKING:
    from . import profile


class ProfilerActivity(Enum):
    """Whose work is recorded: the processor's, or that of devices. (PyTorch's others have nothing here.)

    >>> mg.profiler.ProfilerActivity.CPU in mg.profiler.supported_activities()
    True
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """What there is to record on this machine.

    >>> mg.profiler.ProfilerActivity.CPU in mg.profiler.supported_activities()
    True
    """
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if Device.is_cuda_available() else {ProfilerActivity.CPU}


class ProfilerAction(Enum):
    """What a profile does in a step.

    >>> [action.name for action in mg.profiler.ProfilerAction]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """What to do in each step: after `skip_first` steps, cycles of `wait` steps in which nothing is done, `warmup`, in which nothing is kept,
    and `active`, which are recorded, and given to `on_trace_ready` at the end of the last; `repeat` cycles, or with 0 for ever. With
    `skip_first_wait` the first cycle has no `wait`.

    >>> from micrograd_rs.profiler import schedule
    >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first, skip_first_wait) < 0 or active < 1:
        raise ValueError(
            f"schedule: takes at least one active step and no negative number, got wait={wait}, warmup={warmup}, active={active}, "
            f"repeat={repeat}, skip_first={skip_first}, skip_first_wait={skip_first_wait}"
        )

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"schedule: takes the number of a step, got {step}")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        length = wait + warmup + active
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def always(_: int) -> ProfilerAction:
    """Recorded from begin to end."""
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str], worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """For `on_trace_ready`: writes each trace to a file of its own in a folder, `<worker>.<nanoseconds>.pt.trace.json` (`.gz`), where
    TensorBoard's plugin looks for them. The worker is this machine and process where it has no name.

    Arguments:
        dir_name: the folder
        worker_name: the worker's name
        use_gzip: whether the file is compressed

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with mg.profiler.profile(on_trace_ready=mg.profiler.tensorboard_trace_handler(folder, "me")):
    ...     _ = (mg.ones(4) * 2).tolist()
    >>> [name.split(".")[0] for name in os.listdir(folder)]
    ['me']
    """

    def handler(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler
