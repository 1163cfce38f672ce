"""A model over HTTP: predictions and reasons as JSON, and a page to try the model."""

from typing import TYPE_CHECKING

from skcamel.names import lazily

if TYPE_CHECKING:
    from skcamel.serve.app import Limits, Served, create_app

__all__ = ["Limits", "Served", "create_app"]

__getattr__, __dir__ = lazily(__name__, dict.fromkeys(__all__, "app"))
