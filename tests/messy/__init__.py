"""Tables as people really keep them, made up: their cells, their files, and the truth."""

from . import made
from .form import Messy

MAKERS = (
    *(made.tickets, made.patients, made.members, made.german),
    *(made.budget_sheet, made.clothes, made.flights),
)
TABLES: list[Messy] = [make() for make in MAKERS]

__all__ = ["MAKERS", "TABLES", "Messy"]
