"""The description of a server in the terms of OpenAPI 3.1, with the columns and labels of its model."""

from __future__ import annotations

from typing import Any

import skcamel
from skcamel.serve.model import Served

NUMBERS = {
    "type": "object",
    "additionalProperties": {"type": "number"},
    "description": "By the name of the label.",
}
OPTIONS = {
    "scores": (
        {"type": "boolean", "default": True},
        "The score of every label; higher is more likely.",
    ),
    "decisions": ({"type": "boolean", "default": False}, "1 or 0 for every label."),
    "probabilities": (
        {"type": "boolean"},
        "The probability of every label; by default where the model has them.",
    ),
    "confidence": (
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        (
            "Also yes, no or open for every label: at 0.9, about 90 % of the yes answers are right,"
            " and at most about 10 % of the labels that rows have are answered no."
        ),
    ),
    "reasons": (
        {"type": "boolean", "default": False},
        "Why: what each column and each other label adds to a score.",
    ),
    "top": (
        {"type": "integer", "minimum": 0, "default": 5},
        "How many columns and other labels the reasons list.",
    ),
}
REFUSALS = {
    "401": "The token is missing or wrong.",
    "408": "The body took too long to arrive.",
    "413": "The body is too large.",
    "415": "The body is neither JSON nor CSV.",
    "422": (
        "The rows do not fit the model, or there are too many; the message says which column and"
        " what to do."
    ),
    "429": "Too many predictions at once; try again.",
    "503": "The answer took too long, or the server is stopping; try again.",
}
GETS = {
    "/model": (
        "Columns, labels, version, limits, and a row of typical values.",
        "application/json",
    ),
    "/health": ("Whether the process answers.", "application/json"),
    "/ready": ("Whether it takes requests; 503 while it stops.", "application/json"),
    "/metrics": ("Counts in the text format of Prometheus.", "text/plain"),
    "/openapi.json": ("This description.", "application/json"),
    "/": ("A page to try the model.", "text/html"),
}
OPEN = ("/", "/health", "/ready")  # paths that need no token


def description(served: Served, *, token: bool) -> dict[str, Any]:
    """Describe a server; `token` says whether it wants one.

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel import CamelClassifier
    >>> served = Served(CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int)), "tiny")
    >>> sorted(description(served, token=False)["paths"])
    ['/', '/health', '/metrics', '/model', '/openapi.json', '/predict', '/ready']
    """
    security: list[dict[str, list[str]]] = [{"token": []}] if token else []
    paths = {path: {"get": _get(path, security)} for path in GETS} | {
        "/predict": {"post": _predict(served, security)}
    }
    schemes = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}} if token else {}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": served.name,
            "version": skcamel.__version__,
            "description": "Multi-label predictions by skcamel.",
        },
        "paths": paths,
        "components": (
            {"schemas": {"Row": _row(served), "Prediction": _prediction(served), "Error": _error()}}
            | schemes
        ),
    }


def _get(path: str, security: list[Any]) -> dict[str, Any]:
    what, form = GETS[path]
    responses: dict[str, Any] = {"200": {"description": what, "content": {form: {}}}}
    if path not in OPEN and security:
        responses["401"] = _refusal("401")
    if path == "/ready":
        responses["503"] = _refusal("503")
    return {"summary": what, "responses": responses} | (
        {"security": security} if path not in OPEN else {}
    )


def _refusal(status: str) -> dict[str, Any]:
    return {
        "description": REFUSALS[status],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def _predict(served: Served, security: list[Any]) -> dict[str, Any]:
    row = {
        "oneOf": [
            {"$ref": "#/components/schemas/Row"},
            {"type": "array", "description": "Values in the order of GET /model."},
        ]
    }
    rows = {"type": "array", "minItems": 1, "maxItems": served.limits.rows, "items": row}
    options = {name: schema | {"description": what} for name, (schema, what) in OPTIONS.items()}
    labels = {
        "type": "array",
        "items": {"enum": [*served.labels]},
        "description": "Labels to give reasons for; by default those predicted.",
    }
    body = {
        "type": "object",
        "required": ["rows"],
        "properties": {"rows": rows, "labels": labels, **options},
        "additionalProperties": False,
    }
    answer = {
        "type": "object",
        "properties": {
            "model": {"type": "string"},
            "predictions": {"type": "array", "items": {"$ref": "#/components/schemas/Prediction"}},
            "notes": {
                "type": "array",
                "items": {"type": "string"},
                "description": "What was left aside, and how rows differ from training.",
            },
        },
    }
    in_address = [
        {"name": name, "in": "query", "schema": schema, "description": what}
        for name, (schema, what) in OPTIONS.items()
    ]
    return {
        "summary": "Predict the labels of rows.",
        "parameters": in_address,
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": body, "example": {"rows": [served.example()]}},
                "text/csv": {
                    "schema": {
                        "type": "string",
                        "description": "A table with the names of the columns in its first line.",
                    }
                },
            },
        },
        "responses": (
            {
                "200": {
                    "description": "One prediction for each row.",
                    "content": {"application/json": {"schema": answer}},
                }
            }
            | {status: _refusal(status) for status in REFUSALS if security or status != "401"}
        ),
        "security": security,
    }


def _row(served: Served) -> dict[str, Any]:
    properties = {column["name"]: _cell(column) for column in served.columns}
    return {
        "type": "object",
        "properties": properties,
        "required": [column["name"] for column in served.columns if not column["gaps"]],
    }


def _cell(column: dict[str, Any]) -> dict[str, Any]:
    kind = ["number"] if column["kind"] == "number" else ["string", "number", "boolean"]
    return {"type": kind + ["null"] * column["gaps"], "description": column["kind"]}


def _prediction(served: Served) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "row": {"type": "integer", "description": "From 1."},
            "labels": {"type": "array", "items": {"enum": [*served.labels]}},
            "scores": NUMBERS,
            "decisions": NUMBERS,
            "probabilities": NUMBERS,
            "sets": {"type": "object", "additionalProperties": {"enum": ["yes", "no", "open"]}},
            "reasons": {"type": "array", "items": {"type": "object"}},
        },
    }


def _error() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "error": {"type": "string", "description": "What came, what is wrong, what to do."}
        },
    }
