"""Tables as people really keep them, made up: what they hold, how they are written, and what is true about them."""

from . import measures, people, texts, trade
from .form import Messy

MAKERS = (
    texts.packages,
    texts.movies,
    texts.tickets,
    texts.reviews,
    texts.messages,
    texts.replies,
    texts.recipes,
    people.patients,
    people.survey,
    people.staff,
    people.visits,
    people.students,
    people.members,
    trade.orders,
    trade.ledger,
    trade.swiss,
    trade.german,
    trade.unicode_export,
    trade.budget_sheet,
    trade.homes,
    trade.customers,
    trade.clothes,
    measures.stations,
    measures.sensors,
    measures.regions,
    measures.machines,
    measures.spectra,
    measures.flights,
    measures.devices,
    measures.laboratory,
)
TABLES: list[Messy] = [make() for make in MAKERS]

__all__ = ["MAKERS", "TABLES", "Messy"]
