"""Embedding spaces, what guards calls to chat models, what these cost, which were made, and which tools they led to."""

from apps.llm.models.call import CallGuard, CallOutcome, ModelCall
from apps.llm.models.embedding import EmbeddingSpace
from apps.llm.models.guards import Breaker, BreakerPhase, BudgetDay, BudgetReservation, TokenUse
from apps.llm.models.price import Price
from apps.llm.models.tool_counts import BlockProtocol, RunOutcome, ToolOutputDay, ToolRunDay

__all__ = [
    "BlockProtocol",
    "Breaker",
    "BreakerPhase",
    "BudgetDay",
    "BudgetReservation",
    "CallGuard",
    "CallOutcome",
    "EmbeddingSpace",
    "ModelCall",
    "Price",
    "RunOutcome",
    "TokenUse",
    "ToolOutputDay",
    "ToolRunDay",
]
