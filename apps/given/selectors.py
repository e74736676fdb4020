"""The door of `given` for reads."""

from uuid import UUID

from django.db.models import Count, Max

from apps.core.domain.scope import Access
from apps.given.domain.given import Use
from apps.given.models import GivenAnswer

__all__ = ["GivenAnswer", "memory_uses"]
MAX_RUNS, RUNS_READ = 3, 200


def memory_uses(access: Access, memory: UUID, limit: int) -> list[Use]:
    """Return which applications got a memory as an answer, the last one first, and in which runs of theirs."""
    answers = GivenAnswer.objects.all().visible_to(access).filter(memories__contains=[memory])
    counted = answers.values("app").annotate(count=Count("pk"), last_at=Max("at")).order_by("-last_at", "app")[:limit]
    runs: dict[str, dict[str, None]] = {}
    for app, run in answers.exclude(run_id="").order_by("-at", "-pk").values_list("app", "run_id")[:RUNS_READ]:
        runs.setdefault(app, {})[run] = None
    return [Use(**one, runs=tuple(runs.get(one["app"], ()))[:MAX_RUNS]) for one in counted]
