"""The last runs of a schedule as bars: their height is the duration, their colour the outcome."""

import math
from collections.abc import Sequence
from datetime import timedelta
from statistics import median

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.bars import Bar, Bars
from apps.core.admin.kit import moment
from apps.core.pages.times import in_figures
from apps.events.selectors import JobRun

SHOWN, STEP, HEIGHT, LEAST = 30, 6, 28, 4
TONES = {
    JobRun.Outcome.SUCCEEDED: "good",
    JobRun.Outcome.FAILED: "bad",
    JobRun.Outcome.LOST: "bad",
    JobRun.Outcome.RUNNING: "quiet",
}
OUTCOMES = {
    JobRun.Outcome.SUCCEEDED: _("succeeded"),
    JobRun.Outcome.FAILED: _("failed"),
    JobRun.Outcome.LOST: _("lost with its process"),
    JobRun.Outcome.RUNNING: _("is running"),
}


def milliseconds(run: JobRun) -> float:
    """Return how long a run took; 0 while it runs."""
    return 0.0 if run.ended_at is None else (run.ended_at - run.started_at) / timedelta(milliseconds=1)


def run_bars(runs: Sequence[JobRun]) -> Bars:
    """Return the bars of the last runs, the newest at the right. The scale is logarithmic: a second beside an hour."""
    shown = runs[-SHOWN:]
    longest = max((math.log1p(milliseconds(run)) for run in shown), default=0.0) or 1.0
    start = SHOWN - len(shown)
    bars = []
    for place, run in enumerate(shown):
        height = max(LEAST, round(HEIGHT * math.log1p(milliseconds(run)) / longest))
        title = f"{moment(run.started_at)}: {outcome_in_words(run)}"
        bars.append(Bar((start + place) * STEP, HEIGHT - height, height, TONES[JobRun.Outcome(run.outcome)], title))
    return Bars(tuple(bars), SHOWN * STEP, HEIGHT, summary_of(shown))


def outcome_in_words(run: JobRun) -> str:
    """Return how a run ended, and after what time."""
    words = OUTCOMES[JobRun.Outcome(run.outcome)]
    if run.ended_at is None:
        return str(words)
    return gettext("%(outcome)s after %(time)s") % {"outcome": words, "time": took(run)}


def took(run: JobRun) -> str:
    """Return how long a run took, in words."""
    return in_figures(milliseconds(run))


def summary_of(runs: Sequence[JobRun]) -> str:
    """Return the last runs in a sentence."""
    ended = [run for run in runs if run.outcome != JobRun.Outcome.RUNNING]
    if not ended:
        return gettext("No runs recorded yet")
    bad = sum(TONES[JobRun.Outcome(run.outcome)] == "bad" for run in ended)
    usual = in_figures(median(milliseconds(run) for run in ended))
    good = len(ended) - bad
    return gettext(
        "Last %(total)s runs: %(good)s succeeded, %(bad)s failed or were lost; half took at most %(time)s"
    ) % {"total": len(ended), "good": good, "bad": bad, "time": usual}
