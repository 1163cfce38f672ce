"""Models to serve, made up, and ways to ask a server: inside this process, or a real one."""

import asyncio
import os
import re
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import cache

import numpy as np

from skcamel import CamelClassifier, save
from skcamel.data import TablePreparer
from skcamel.data.pipeline import LabelPipeline

FILLER = ("today", "again", "page", "team", "hello", "someone", "thanks", "still")
NAMES = ("height", "width", "<b>depth</b>")
ROW = dict(zip(NAMES, (1.0, 2.0, 3.0), strict=True))
TOKEN = "a-token-of-sixteen-or-more"  # noqa: S105


@cache
def rows(n=80, d=3):
    """X (n, d) and Y (n, 4), of which the labels depend on each other."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d))
    hidden = X @ rng.normal(size=(d, 4)) + 0.5 * rng.normal(size=(n, 4))
    hidden[:, 1:] += 0.7 * hidden[:, :-1]
    return X, (hidden > 0.3).astype(int)


@cache
def numbers():
    """A model of three columns of numbers, with names."""
    import pandas as pd

    X, Y = rows()
    labels = pd.DataFrame(Y, columns=["sea", "sun", "</script>", 'rain, "heavy"'])
    return CamelClassifier(0.3, scaling="standard", threshold="macro_f1").fit(
        pd.DataFrame(X, columns=NAMES), labels
    )


@cache
def mixed_table(n=90):
    """Columns of every kind, as text and numbers with gaps; and labels (n, 3)."""
    rng = np.random.default_rng(6)
    kind = rng.choice(["free", "team", "firm"], n)
    paid = rng.gamma(2.0, 40.0, n).round(2)
    late = rng.integers(0, 2, n)
    words = np.where(late, "parcel late courier", "invoice card payment")
    table = {
        "ticket": [f"T-{k}" for k in range(n)],
        "opened": [f"{1 + k % 28:02d}/{1 + k % 12:02d}/2025 {k % 24:02d}:15" for k in range(n)],
        "plan": kind.tolist(),
        "paid": [None if k % 9 == 0 else float(value) for k, value in enumerate(paid)],
        "smoker": rng.choice(["yes", "no"], n).tolist(),
        "topics": ["|".join(["red", "blue", "green"][: 1 + k % 3]) for k in range(n)],
        "note": [
            f"{word} about {rng.choice(FILLER)} {rng.choice(FILLER)} since order {k}"
            for k, word in enumerate(words)
        ],
    }
    Y = np.column_stack(
        [late, (kind == "firm") | (paid > 120), (late == 1) & (kind != "free")]
    ).astype(int)
    return table, Y


@cache
def mixed():
    """A model of a table with words, dates, text, tags and gaps."""
    table, Y = mixed_table()
    return LabelPipeline(
        [("prepare", TablePreparer(id=["ticket"])), ("classify", CamelClassifier(0.2))]
    ).fit(table, Y)


def ask(app, method, path, **options):
    """The answer of an application in this process."""
    return asyncio.run(asked(app, [(method, path, options)]))[0]


async def asked(app, requests):
    """The answers to several requests that come at once."""
    import httpx

    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://here"
    ) as client:
        return await asyncio.gather(
            *(client.request(method, path, **options) for method, path, options in requests)
        )


def values(told, kind):
    """Matrix (n, q) of an answer."""
    return np.array([list(record[kind].values()) for record in told["predictions"]])


@contextmanager
def running(model, folder, *options, environment=None, files=1024):
    """A real server: its address and its process, which may open so many files."""
    path = folder / "served.skcamel"
    save(model, path)
    command = [sys.executable, "-m", "skcamel", "serve", str(path), "--port", "0", *options]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),  # noqa: PLW1509
    )
    try:
        line = process.stderr.readline()
        found = re.search(r"at (http://\S+)", line)
        assert found, line + process.stderr.read()
        yield found[1], process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
