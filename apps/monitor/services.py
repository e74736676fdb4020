"""The door of `monitor`: numbers over time, and what needs a person."""

from apps.monitor.charts import series_read
from apps.monitor.problems import HUB_PERMISSION, current_problems, problems_for
from apps.monitor.samples import all_series, sample_take, samples_roll_up
from apps.monitor.watch import begin_problem_watch, end_problem_watch

__all__ = [
    "HUB_PERMISSION",
    "all_series",
    "begin_problem_watch",
    "current_problems",
    "end_problem_watch",
    "problems_for",
    "sample_take",
    "samples_roll_up",
    "series_read",
]
