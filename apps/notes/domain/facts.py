"""Facts of conversations: what a person says about themselves, decides, plans and asks for, found without a model."""

from apps.notes.domain.extraction.extract import extract_facts
from apps.notes.domain.extraction.fact import Category, Fact, Turn

__all__ = ["Category", "Fact", "Turn", "extract_facts"]
