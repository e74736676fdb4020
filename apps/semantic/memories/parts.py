"""The parts of what is known of someone: alone, in a household, with a persona."""

from django.db.models import Count

from apps.core.domain.scope import Access, Scope
from apps.semantic.models import Memory


def memory_parts(access: Access) -> dict[Scope, int]:
    """Return the number of the caller's active memories of each exact scope."""
    rows = Memory.objects.visible_to(access).active().order_by().values_list("user_id", "household_id", "persona_id")
    return {
        Scope(user, household or None, persona or None): count
        for user, household, persona, count in rows.annotate(Count("pk"))
    }
