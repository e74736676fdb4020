"""*Doctor*: the examination of the whole hub, as `manage.py doctor` does it without reading every file."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.cockpit.now.outlook import ICONS, TONES, WORDS
from apps.cockpit.pages import may_view_hub, render_fragment, render_page
from apps.monitor.domain.examinations import Examined, Verdict, verdict_of
from apps.monitor.services import examine

STATES = {Verdict.SOUND: _("sound"), Verdict.WARNINGS: _("warnings"), Verdict.PROBLEMS: _("problems")}
TONES_OF = {Verdict.SOUND: "good", Verdict.WARNINGS: "warn", Verdict.PROBLEMS: "bad"}
SENTENCES = {
    Verdict.SOUND: _("The hub is sound"),
    Verdict.WARNINGS: _("The hub works, and something needs you"),
    Verdict.PROBLEMS: _("The hub has problems"),
}


def doctor(request: HttpRequest) -> HttpResponse:
    """Show the page, which then asks for the report."""
    refuse_others(request)
    return render_page(request, "cockpit/doctor/page.html", gettext("Doctor"), tab="doctor")


def report(request: HttpRequest) -> HttpResponse:
    """Examine the hub, and show what was found."""
    refuse_others(request)
    examined = list(examine())
    verdict = verdict_of(examined)
    return render_fragment(
        request,
        "cockpit/doctor/report.html",
        sentence=SENTENCES[verdict],
        tone=TONES_OF[verdict],
        rows=[row_of(one) for one in examined],
        has_findings=any(one.findings for one in examined),
        now=now(),
    )


def refuse_others(request: HttpRequest) -> None:
    """Raise PermissionDenied for an account with a bound: findings are about the whole hub."""
    if not may_view_hub(request, "core.hubprocess"):
        raise PermissionDenied


def row_of(one: Examined) -> dict[str, Any]:
    """Return an examination as a row shows it."""
    is_left_out = one.findings is None
    return {
        "name": one.name,
        "title": one.title,
        "state": _("not examined") if is_left_out else STATES[one.verdict],
        "tone": "info" if is_left_out else TONES_OF[one.verdict],
        "findings": [
            {
                "problem": finding,
                "tone": TONES[finding.severity],
                "icon": ICONS[finding.severity],
                "word": WORDS[finding.severity],
            }
            for finding in one.findings or ()
        ],
    }
