"""Embedding spaces; guards, prices and records of calls to chat models; counts of tools."""

from apps.llm.models.call import CallGuard, CallOutcome, ModelCall
from apps.llm.models.guards import Breaker, BreakerChange, BreakerPhase, BudgetDay, BudgetReservation, TokenUse
from apps.llm.models.price import Price
from apps.llm.models.space import EmbeddingSpace
from apps.llm.models.tool_counts import BlockProtocol, RunOutcome, ToolOutputDay, ToolRunDay
