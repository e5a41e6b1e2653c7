"""How many threads llama.cpp should have: its threads wait for each other, so one more than there are cores slows all of them down."""

import os
from pathlib import Path

SYSTEM = Path("/sys")


def usable_cores(system: Path = SYSTEM) -> int:
    """Physical cores that this process may use: no hyper-threads, nothing beyond its affinity or its container's quota. At least 1.

    system: where Linux describes itself. Elsewhere half of the logical ones, which is right with hyper-threads and with the
    fast half of a chip that has fast and slow cores.
    """
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    siblings = {_text(system / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") for cpu in allowed}
    cores = len(siblings) if "" not in siblings else (len(allowed) + 1) // 2
    quota = _quota(system)
    return max(1, min(cores, int(quota)) if quota else cores)


def _quota(system: Path) -> float | None:
    """The container's share in cores (cgroup version 2, else 1), None when it has no limit."""
    limit, _, period = _text(system / "fs/cgroup/cpu.max").partition(" ")
    if not limit:
        limit, period = (_text(system / f"fs/cgroup/cpu/cpu.cfs_{name}_us") for name in ("quota", "period"))
    return int(limit) / int(period) if limit.isdecimal() and period.isdecimal() and int(period) else None


def _text(file: Path) -> str:
    try:
        return file.read_text("ascii").strip()
    except OSError:
        return ""
