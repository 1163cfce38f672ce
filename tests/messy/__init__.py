"""Tables as people really keep them, made up: their cells, their files, and the truth."""

from . import measures, people, texts, trade
from .form import Messy

MAKERS = (
    texts.packages,
    texts.tickets,
    texts.messages,
    texts.replies,
    texts.recipes,
    people.patients,
    people.survey,
    people.visits,
    people.students,
    people.members,
    trade.orders,
    trade.ledger,
    trade.german,
    trade.unicode_export,
    trade.budget_sheet,
    trade.homes,
    trade.clothes,
    measures.sensors,
    measures.machines,
    measures.flights,
    measures.laboratory,
)
TABLES: list[Messy] = [make() for make in MAKERS]

__all__ = ["MAKERS", "TABLES", "Messy"]
