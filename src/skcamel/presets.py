"""What each preset tries, the same in Python, in ``fit`` and in ``study``; see ``presets.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

Place = tuple[str, str, float]  # scaling, kernel, multiple of the mean distance


def _as_tuples(value: Any) -> Any:
    """Lists of a TOML file as tuples, so that nobody changes a preset."""
    if isinstance(value, list):
        return tuple(map(_as_tuples, value))
    if isinstance(value, dict):
        return {key: _as_tuples(entry) for key, entry in value.items()}
    return value


_TABLES = _as_tuples(tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")))
PRESETS: dict[str, dict[str, Any]] = _TABLES["presets"]
PREPARED: dict[str, tuple[Place, ...]] = _TABLES["prepared"]  # for rows of a TablePreparer
