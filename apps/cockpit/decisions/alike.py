"""Accept all decisions that are like one, after five of them were shown."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.cockpit.decisions.review import STALE, answer
from apps.cockpit.decisions.shown import may_read
from apps.cockpit.decisions.tokens import RUN, SHOWN, read_run, run_token
from apps.cockpit.pages import render_fragment
from apps.core.admin.kit import operator_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.semantic import services

SAMPLES = 5


def decisions_alike(request: HttpRequest, key: int) -> HttpResponse:
    """Ask whether to accept all that are like a decision: how many, and five of them. Raises Http404."""
    access = operator_access(request)
    receipt = services.receipt_at(access, key)
    if receipt is None:
        raise Http404
    alike = services.alike_of(receipt)
    keys = list(services.decisions_alike(access, alike).exclude(pk=key).values_list("pk", flat=True)[: SAMPLES - 1])
    count = services.count_alike(access, alike)
    return render_fragment(
        request,
        "cockpit/decisions/alike.html",
        receipt=receipt,
        alike=alike,
        count=count,
        count_more=count >= services.MAX_ALIKE,
        samples=services.queue_rows(access, [key, *keys]),
        may_read=may_read(request),
        token=run_token(request, alike, None),
    )


@require_POST
def decisions_accept_alike(request: HttpRequest) -> HttpResponse:
    """Accept one batch of what was shown, or go on with a run. The token of the run undoes all of it."""
    run = read_run(request, request.POST.get("token", ""), SHOWN, RUN)
    if run is None:
        return answer(request, STALE, status=400)
    at = run.at or utcnow(SYSTEM_CLOCK)
    report = services.batch_accept(access=operator_access(request), alike=run.alike, at=at)
    token = run_token(request, run.alike, at)
    said = ngettext("Accepted: %(count)s decision.", "Accepted: %(count)s decisions.", report.count)
    sentence = said % {"count": report.count}
    return answer(request, sentence, count=report.count, is_last=report.is_last, undo=token)
