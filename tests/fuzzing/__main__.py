"""Run the fuzzers: ``python -m fuzzing --minutes 10 [--start SEED] [target ...]``."""

import argparse
import faulthandler
import secrets
import sys
import tempfile
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path

from fuzzing import TARGETS


def main() -> int:
    """Share the time among the targets; the seed of a misbehaviour, or of a crash, comes last."""
    parser = argparse.ArgumentParser(prog="fuzzing", description=__doc__)
    names = f"one or more of {', '.join(TARGETS)}"
    parser.add_argument("targets", nargs="*", default=TARGETS, metavar="target", help=names)
    parser.add_argument("--minutes", type=float, default=5.0, help="in all")
    parser.add_argument("--start", type=int, help="first seed; a random one if not given")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    for target in options.targets:
        attack = import_module(f"fuzzing.{target}").attack
        seed = secrets.randbelow(2**40) if options.start is None else options.start
        end = time.monotonic() + 60 * options.minutes / len(options.targets)
        while time.monotonic() < end:
            print(f"\r{target}: seed {seed}", end="", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    attack(seed, Path(folder))
                except BaseException:
                    traceback.print_exc()
                    return 1
            seed += 1
        print(f"\r{target}: held until seed {seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
