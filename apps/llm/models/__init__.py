"""Embedding spaces, what guards calls to chat models, what these cost, and which were made."""

from apps.llm.models.call import CallGuard, CallOutcome, ModelCall
from apps.llm.models.embedding import EmbeddingSpace
from apps.llm.models.guards import Breaker, BreakerPhase, BudgetDay, BudgetReservation, TokenUse
from apps.llm.models.price import Price

__all__ = [
    "Breaker",
    "BreakerPhase",
    "BudgetDay",
    "BudgetReservation",
    "CallGuard",
    "CallOutcome",
    "EmbeddingSpace",
    "ModelCall",
    "Price",
    "TokenUse",
]
