"""A model over HTTP: predictions and reasons as JSON, and a page to try the model."""

from typing import TYPE_CHECKING

from skcamel.names import lazily

if TYPE_CHECKING:
    from skcamel.serve.app import create_app
    from skcamel.serve.model import Limits, Served

_HOME = {"Limits": "model", "Served": "model", "create_app": "app"}
__all__ = ["Limits", "Served", "create_app"]

__getattr__, __dir__ = lazily(__name__, _HOME)
