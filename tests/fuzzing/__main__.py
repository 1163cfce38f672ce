"""Run the fuzzers for a given time: ``python -m fuzzing --minutes 10 [--start SEED] [target ...]``.

Each target works in a process of its own, so that a crash of the interpreter is caught and its seed
is known.
"""

import argparse
import faulthandler
import multiprocessing
import os
import resource
import secrets
import sys
import tempfile
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path

from fuzzing import TARGETS

MEMORY = 8 * 2**30  # bytes of address space for a target


def work(target: str, start: int, seconds: float, folder: Path) -> None:
    """Try one seed after the other; the seed at work stands in a file, the misbehaviour in another."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    attack = import_module(f"fuzzing.{target}").attack
    end, seed = time.monotonic() + seconds, start
    while time.monotonic() < end:
        (folder / "seed").write_text(str(seed))
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            try:
                attack(seed, Path(scratch))
            except BaseException:
                (folder / "failed").write_text(traceback.format_exc())
                os._exit(1)
        seed += 1


def run(target: str, start: int, seconds: float) -> str | None:
    """What went wrong, or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        by_name = import_module(
            "fuzzing.__main__"
        ).work  # a fresh process does not find what lives in "__main__"
        process = multiprocessing.get_context("spawn").Process(
            target=by_name, args=(target, start, seconds, folder)
        )
        process.start()
        process.join(seconds + 300)
        if process.is_alive():
            process.kill()
            process.join()
        seed = int((folder / "seed").read_text()) if (folder / "seed").exists() else start
        if process.exitcode == 0:
            print(f"{target}: {seed - start + 1} attacks from seed {start}, all held")
            return None
        failed = folder / "failed"
        detail = (
            failed.read_text() if failed.exists() else f"the process ended with {process.exitcode}"
        )
        return (
            f"{target}: seed {seed}: {detail}\nRepeat it by: python -m fuzzing --start {seed}"
            f" --minutes 0.01 {target}"
        )


def main() -> int:
    """Share the time among the targets and say what was found."""
    parser = argparse.ArgumentParser(prog="fuzzing", description=__doc__)
    parser.add_argument(
        "targets",
        nargs="*",
        default=TARGETS,
        metavar="target",
        help=f"one or more of {', '.join(TARGETS)}",
    )
    parser.add_argument("--minutes", type=float, default=5.0, help="in all")
    parser.add_argument(
        "--start", type=int, default=None, help="first seed; a random one if not given"
    )
    asked = parser.parse_args()
    start = secrets.randbelow(2**40) if asked.start is None else asked.start
    found = [
        run(target, start, 60 * asked.minutes / len(asked.targets)) for target in asked.targets
    ]
    for text in filter(None, found):
        print(text, file=sys.stderr)
    return int(any(found))


if __name__ == "__main__":
    sys.exit(main())
