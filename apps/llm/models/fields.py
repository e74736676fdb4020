"""Fields that several models have."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import models

from apps.llm.domain.budget import MONEY_PLACES

# A service and, where it is another one, its address: `openai@127.0.0.1:11434`.
MAX_PROVIDER_CHARS = 300
MAX_MODEL_CHARS = 200
MAX_ACTOR_CHARS = 200
MAX_REASON_CHARS = 100
# The largest amount has 16 digits before its nine places; many of them may be added up.
MONEY_DIGITS = 28


def money(**options: Any) -> models.DecimalField[Decimal, Decimal]:
    """Build a field for US dollars to the nano-dollar."""
    return models.DecimalField(max_digits=MONEY_DIGITS, decimal_places=MONEY_PLACES, **options)


def optional_money() -> models.DecimalField[Decimal | None, Decimal | None]:
    """Build a field for US dollars to the nano-dollar, or null."""
    return models.DecimalField(max_digits=MONEY_DIGITS, decimal_places=MONEY_PLACES, null=True)
