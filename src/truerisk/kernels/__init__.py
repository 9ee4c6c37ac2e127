"""Compiled loops: Cython sources in Python's own syntax, one file per family.

``from truerisk.kernels import counts`` gives the compiled module.  Every file is compiled ahead of
time in one to three forms, and the form is chosen once, by the processor:

=======  ==========================================================================================
``v1``   any processor of the architecture
``v3``   x86-64 with AVX2, FMA and their companions (most processors since 2013)
``v4``   x86-64 with AVX-512 that does not lower the clock (Intel since 2019, AMD since 2022): the
         families `WIDE`, of floating-point numbers; the others are those of v3
=======  ==========================================================================================

The environment variable ``TRUERISK_KERNELS`` names a form: ``v1``, ``v3``, ``v4``, or ``python``
for the uncompiled source, which is in a checkout of the repository and not in a wheel, needs Cython
installed, and is some hundred times slower.  Nothing falls back to it by itself.

What Python's own syntax has no word for is in ``memory.pxd``.  Compiler directives and flags are in
``CMakeLists.txt``: no bounds are checked and no index is negative.  *Exact* files round as written;
*fused* ones may round a product and a sum once; *rearranged* ones may also add in another order and
must never meet a number that is not finite.
"""

import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

FORMS = ("v1", "v3", "v4", "python")
FAMILIES = (
    *("batch", "counts", "gram", "interior", "lanes"),
    *("rows", "special", "tableau", "text", "words"),
)
WIDE = {"batch", "gram", "interior", "tableau"}  # compiled in v4 too
NEEDED_FOR_V3 = {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"}
# The last one came with the processors that keep their clock.
NEEDED_FOR_V4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vbmi2"}
ROWS_PER_THREAD = 500_000  # about a millisecond of work; for less, starting a thread costs more
MAX_THREADS = 16


@cache
def form() -> str:
    """Return the form of the kernels that this process uses."""
    forced = os.environ.get("TRUERISK_KERNELS", "")
    if forced and forced not in FORMS:
        names = ", ".join(FORMS)
        raise ImportError(f"`TRUERISK_KERNELS` must be one of {names}; got {forced!r}.")
    return forced or _best_form()


def _best_form() -> str:
    """Return the last form that this processor has all instructions of."""
    import platform

    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return "v1"
    if sys.platform == "linux":
        try:
            with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:  # noqa: PTH123  (pathlib costs start-up time)
                line = next((line for line in file if line.startswith("flags")), "")
        except OSError:
            return "v1"
        flags = set(line.split())
        has_v3 = flags >= NEEDED_FOR_V3 and not {"abm", "lzcnt"}.isdisjoint(flags)
        has_v4 = flags >= NEEDED_FOR_V4
    else:
        try:
            from numpy._core._multiarray_umath import __cpu_features__ as features
        except ImportError:
            return "v1"
        has_v3 = all(features.get(name, False) for name in ("AVX2", "FMA3"))
        has_v4 = features.get("AVX512_ICL", False)
    return ("v4" if has_v4 else "v3") if has_v3 else "v1"


def __getattr__(name: str) -> ModuleType:
    if name not in FAMILIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if form() == "python":
        module = uncompiled(name)
    else:
        compiled = "v3" if form() == "v4" and name not in WIDE else form()
        try:
            module = import_module(f"{__name__}._{compiled}.{name}")
        except ModuleNotFoundError as error:
            raise ImportError(
                f"The compiled loops of truerisk ({name}, form {form()}) are missing. "
                "Install a wheel, or build the package with `pip install .`, which needs a C "
                "compiler."
            ) from error
    globals()[name] = module
    return module


def uncompiled(name: str) -> ModuleType:
    """Load the source of a family as plain Python, as a module of its own."""
    from importlib.util import module_from_spec, spec_from_file_location

    source = os.path.join(os.path.dirname(__file__), f"{name}.py")  # noqa: PTH118, PTH120  (as above)
    if not os.path.exists(source):  # noqa: PTH110  (as above)
        raise ImportError(
            f"`TRUERISK_KERNELS` is 'python', but a wheel has no source of {name!r}. "
            "Use a checkout of the repository, installed by `pip install -e .`."
        )
    spec = spec_from_file_location(f"{__name__}.uncompiled.{name}", source)
    if spec is None or spec.loader is None:
        raise ImportError(f"Python cannot load {source}.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def threads_for(rows: int) -> int:
    """Return the number of threads among which to share that many rows."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(usable or 1, MAX_THREADS, rows // ROWS_PER_THREAD))


def in_threads(function: Callable[..., T], *items: Iterable[Any], threads: int) -> list[T]:
    """Apply a function to all items, in order; in this thread where one is enough."""
    if threads <= 1:
        return list(map(function, *items))
    from concurrent.futures import ThreadPoolExecutor  # not needed to score a small file

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, *items))
