"""Odd requests to a server: each is answered, never by 500, and 200 only with predictions.

A seed stands for one request. The application runs in this process, so that an error inside it is
seen with its traceback.
"""

import asyncio
import json
import logging
import random
from functools import cache
from pathlib import Path
from typing import Any

ALLOWED = {200, 400, 401, 404, 405, 413, 422, 503}
ODD = [
    None, True, False, 0, -0.0, 1, -1, 2**53 + 1, -(2**70), 10**320, 1e308, -1e308, 5e-324,
    float("nan"), float("inf"), "", " ", "nan",
    "inf", "1e400", "../../etc/passwd", "1,5", "$3.20", "yes", "free", "2025-02-30", "99:99",
    "a|b|a", "\x00", "\ud800", "𝟙",
    "=1+1", "<script>", "x" * 5000, [], ["a", "b"], [None], [[1]], {}, {"a": 1}, [1, "a", None],
    -1e-320, "0x10", "٣", "1_000",
]  # fmt: skip
OPTIONS: dict[str, list[Any]] = {"confidence": [0.9, 0.5, 1], "explain": [True, False]}
TYPES = ("application/json", "application/json; charset=utf-16", "text/csv", "", "x/y")
PATHS = ["/", "/model", "/metrics", "/health", "/ready", "/openapi.json", "/docs", "/predict/"]
PATHS += ["/static/page.js"]
PATHS += ["/static/../app.py", "/nowhere", "/%00", "/..%2f..%2fetc%2fpasswd"]


@cache
def applications() -> list[tuple[Any, list[str], Any]]:
    """Served models, their columns, and a client each in a loop of its own."""
    from serving import mixed, numbers
    from skcamel.serve import Limits, Served, create_app

    limits = Limits(body=200_000, rows=50, threads=1)
    served = [Served(numbers(), "numbers", limits=limits), Served(mixed(), "mixed", limits=limits)]
    return [(create_app(own), list(own.example), own.example) for own in served]


def value(rng: random.Random, good: Any, odd: float) -> Any:
    return good if rng.random() >= odd else rng.choice(ODD)


def rows(rng: random.Random, names: list[str], example: dict[str, Any]) -> Any:
    odd = rng.choice([0, 0.05, 0.2, 0.5])
    if rng.random() < 0.1 * odd:
        return rng.choice(ODD)
    made = []
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 20, 51])):
        row: Any = {
            name: value(rng, example[name], odd) for name in names if rng.random() >= 0.05 * odd
        }
        if rng.random() < 0.2:
            name = rng.choice(["extra", "", "\ud800", "sea", "row", "x" * 3000, "ticket"])
            row[name] = rng.choice(ODD)
        if rng.random() < 0.2 * odd:
            row = list(row.values())
        made.append(value(rng, row, 0.1 * odd))
    return made


def options(rng: random.Random) -> dict[str, Any]:
    """What is asked for beside the rows."""
    if rng.random() < 0.2:
        return {rng.choice([*OPTIONS, "rows", "x", ""]): rng.choice(ODD)}
    return {name: rng.choice(values) for name, values in OPTIONS.items() if rng.random() < 0.15}


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Some bytes changed, left out or said twice."""
    changed = bytearray(content)
    for _ in range(rng.choice([0] * 9 + [1, 3, 20])):
        at = rng.randrange(len(changed) + 1)
        how = rng.randrange(3)
        if how == 0:
            changed[at : at + rng.randrange(1, 9)] = rng.randbytes(rng.randrange(9))
        elif how == 1:
            del changed[at : at + rng.randrange(1, 60)]
        else:
            changed[at:at] = changed[max(0, at - rng.randrange(1, 60)) : at]
    return bytes(changed)


def request(seed: int) -> tuple[Any, str, str, dict[str, Any]]:
    """An application, and what it is asked."""
    rng = random.Random(seed)  # noqa: S311 it keeps no secret
    app, names, example = rng.choice(applications())
    if rng.random() < 0.05:
        path = rng.choice(PATHS)
        return app, rng.choice(["GET", "HEAD", "POST", "PUT", "OPTIONS", "BREW"]), path, {}
    whole = {"rows": rows(rng, names, example)} | options(rng)
    kind = TYPES[0] if rng.random() < 0.95 else rng.choice(TYPES)
    content = damaged(rng, json.dumps(whole).encode())
    return app, "POST", "/predict", {"content": content, "headers": {"content-type": kind}}


class Raised(logging.Handler):
    """Keeps what is logged about an error inside a server."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))


async def answer(app: Any, method: str, path: str, options: dict[str, Any]) -> Any:
    import httpx

    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        return await client.request(method, path, **options)


def attack(seed: int, folder: Path) -> None:
    """One request, and what must hold of its answer."""
    del folder
    app, method, path, options = request(seed)
    raised, logger = Raised(), logging.getLogger("skcamel.serve")
    logger.addHandler(raised)
    try:
        response = asyncio.run(answer(app, method, path, options))
    finally:
        logger.removeHandler(raised)
    assert not raised.texts, "\n".join(raised.texts)
    assert response.status_code in ALLOWED, f"{response.status_code}: {response.text[:300]}"
    is_json = response.headers["content-type"] == "application/json"
    if method == "HEAD" or not is_json:
        assert response.status_code < 400 or method == "HEAD"
        return
    told = json.loads(response.text, parse_constant=refuse)
    assert "Traceback" not in response.text
    if response.status_code == 200 and path == "/predict":
        assert all({"row", "labels"} <= set(record) for record in told["predictions"])
        numbers = [record["row"] for record in told["predictions"]]
        assert numbers == list(range(1, len(numbers) + 1))
    elif response.status_code >= 400:
        assert set(told) == {"error"}
        assert len(told["error"]) < 2000, told["error"]


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
