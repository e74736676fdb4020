"""The settings of semantic memory, in the domain's terms."""

from datetime import timedelta

from django.conf import settings

from apps.retrieval.domain.ranking import HalfLives
from apps.semantic.domain.confidence import DecayPolicy


def half_lives() -> HalfLives:
    """How fast each decay policy halves the confidence; None for never (DESIGN D4)."""
    return {
        DecayPolicy.STABLE: None,
        DecayPolicy.REINFORCEABLE: timedelta(days=settings.MEMORYHUB.reinforceable_half_life_days),
        DecayPolicy.CONTEXTUAL: timedelta(days=settings.MEMORYHUB.contextual_half_life_days),
    }
