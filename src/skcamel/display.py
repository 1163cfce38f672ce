"""The older name of :mod:`skcamel.plots`."""

from skcamel.plots import __all__, __dir__, __getattr__  # noqa: F401
