"""Fit CAMEL on yeast and serve it with a page to try it: ``python examples/serve.py``.

It needs the extras ``datasets`` and ``serve``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from skcamel import CamelClassifierCV, save
from skcamel.data import load_dataset


def main() -> int:
    yeast = load_dataset("yeast")
    print("fitting CAMEL on yeast ...", flush=True)
    model = CamelClassifierCV.from_preset("quick", scoring="macro_f1").fit(yeast.X, yeast.labels)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "yeast.skcamel")
        save(model, path)
        try:
            command = [sys.executable, "-m", "skcamel", "serve", str(path)]
            return subprocess.call([*command, *sys.argv[1:]])
        except KeyboardInterrupt:  # the server gets it too, and stops
            return 0


if __name__ == "__main__":
    sys.exit(main())
