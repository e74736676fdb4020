"""The samples of how many problems there were."""

from datetime import datetime

from apps.cockpit.now.strip import MINUTES, Minute
from apps.monitor.services import series_read

OPEN, CRITICAL = "problems_open", "problems_critical"


def read_minutes(start: datetime, end: datetime) -> list[Minute]:
    """Return the samples of a day, the oldest first."""
    values = series_read([OPEN, CRITICAL], start, end, MINUTES)
    critical = dict(values[CRITICAL])
    return [Minute(at, problems, critical.get(at)) for at, problems in values[OPEN]]
