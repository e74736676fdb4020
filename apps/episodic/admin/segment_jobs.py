"""The actions on segments in the admin, and the page that shows their progress and outcome."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.enums import ActionVariant

from apps.core.admin.kit import after_dialog, found_or_404, required_permission
from apps.core.admin.lists import as_uuid
from apps.core.admin.steps import make_dialog
from apps.core.pages.sayings import say
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.models import Segment
from apps.episodic.services import JobKind, JobStatus, MessageSeverity, enqueue_job, run_status

LOGGED = {JobKind.SEAL: "Sealing requested.", JobKind.VERIFY: "Verification requested."}
TITLES = {
    JobKind.SEAL: _("Closing and sealing"),
    JobKind.VERIFY: _("Verifying"),
    JobKind.COMPACT: _("Merging small segments"),
    JobKind.CHECK: _("Checking the timeline"),
    JobKind.REPAIR: _("Repairing the timeline"),
}
FITTING = {
    "inside": {SegmentState.SEALED, SegmentState.ARCHIVED},
    "seal_this": {SegmentState.OPEN, SegmentState.SEALING},
    "verify_this": {SegmentState.SEALED, SegmentState.ARCHIVED, SegmentState.QUARANTINED},
    "repair_from_page": {SegmentState.QUARANTINED},
}
RUN = "admin:episodic_segment_run"
ON_PAGE = ["view", "maintain"]


SEAL = make_dialog(
    _("Close the open segment and seal it?"),
    _(
        "New events go to a new segment from then on. The events of this one are written to a file, which is "
        "verified; their rows stay until it is archived. Recording continues."
    ),
    _("Close and seal"),
)
VERIFY = make_dialog(
    _("Verify its file?"),
    _(
        "The file is read from end to end and compared with its checksums. A damaged one is taken out of service, "
        "with a warning; one that was damaged and has been replaced by an intact one is put back."
    ),
    _("Verify"),
)
COMPACT = make_dialog(
    _("Merge small segments?"),
    _(
        "Small archived segments that are neighbours in time become fewer, larger ones. No event is changed. "
        "Recording continues."
    ),
    _("Merge"),
)
CHECK = make_dialog(
    _("Check the whole timeline?"),
    _("Every file is verified and compared with the catalogue and the rows. Nothing is changed."),
    _("Check"),
)
REPAIR = make_dialog(
    _("Check and repair the whole timeline?"),
    _(
        "A damaged file is set aside and replaced by what can be read from it; what cannot be read is lost, and "
        "counted. To lose nothing, restore the file from a backup first, then verify it. Unknown files are set aside."
    ),
    _("Repair"),
)


def heading_of(run: JobStatus) -> str:
    """Return what a run does, and whether it has ended."""
    if run.kind is None:
        return gettext("Waiting for a worker")
    words = "%(what)s"
    if run.failed:
        words = gettext("%(what)s: stopped before it finished")
    elif run.finished:
        words = gettext("%(what)s: done")
    return words % {"what": TITLES[run.kind]}


class SegmentActions(ModelAdmin):
    """The actions of the list and of a segment's page; the workers carry them out."""

    actions = ("verify_chosen",)
    actions_detail = ("inside", "seal_this", "verify_this", "repair_from_page")
    actions_list = ("seal_all", "compact_small", "check_all", "repair_all")

    def get_urls(self) -> list[Any]:
        page = self.admin_site.admin_view(self.run_view)
        return [path("run/<uuid:run>/", page, name="episodic_segment_run"), *super().get_urls()]

    # The list

    @action(description=_("Verify the selected segments"), icon="verified", permissions=["maintain"])
    def verify_chosen(self, request: HttpRequest, queryset: QuerySet[Segment]) -> HttpResponse:
        return self._enqueue(request, JobKind.VERIFY, list(queryset.order_by("-pk")))

    @action(description=_("Close and seal"), icon="lock", permissions=["maintain"], dialog=SEAL, url_path="seal-all")
    def seal_all(self, request: HttpRequest, form: Any) -> HttpResponse:
        return self._enqueue(request, JobKind.SEAL)

    @action(description=_("Compact"), icon="compress", permissions=["maintain"], dialog=COMPACT, url_path="compact")
    def compact_small(self, request: HttpRequest, form: Any) -> HttpResponse:
        return self._enqueue(request, JobKind.COMPACT)

    @action(description=_("Check"), icon="health_and_safety", permissions=["maintain"], dialog=CHECK, url_path="check")
    def check_all(self, request: HttpRequest, form: Any) -> HttpResponse:
        return self._enqueue(request, JobKind.CHECK)

    @action(description=_("Repair"), icon="build", permissions=["maintain"], dialog=REPAIR, url_path="repair")
    def repair_all(self, request: HttpRequest, form: Any) -> HttpResponse:
        return self._enqueue(request, JobKind.REPAIR)

    # The page of a segment

    @action(description=_("Close and seal"), icon="lock", permissions=ON_PAGE, dialog=SEAL)
    def seal_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._enqueue(request, JobKind.SEAL, [found_or_404(self.get_object(request, object_id))])

    @action(description=_("Verify"), icon="verified", permissions=ON_PAGE, dialog=VERIFY)
    def verify_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._enqueue(request, JobKind.VERIFY, [found_or_404(self.get_object(request, object_id))])

    @action(description=_("Repair"), icon="build", permissions=ON_PAGE, dialog=REPAIR, variant=ActionVariant.DANGER)
    def repair_from_page(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._enqueue(request, JobKind.REPAIR)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the actions that make sense in the state of a segment."""
        segment: Segment | None = self.get_object(request, str(object_id))
        fitting = {name for name, states in FITTING.items() if segment and segment.state in states}
        actions = super().get_actions_detail(request, object_id)
        return [one for one in actions if one.method.original_function_name in fitting]

    has_maintain_permission = required_permission("episodic.change_segment")

    def _enqueue(self, request: HttpRequest, kind: JobKind, segments: Sequence[Segment] = ()) -> HttpResponse:
        """Enqueue a job, and go to the page that shows it."""
        run = enqueue_job(kind=kind, segment_ids=[segment.pk for segment in segments])
        for segment in segments:
            self.log_change(request, segment, LOGGED[kind])
        return after_dialog(request, reverse(RUN, args=[run]))

    # The page of a run

    def run_view(self, request: HttpRequest, run: UUID) -> HttpResponse:
        """Show how far a run is; the page reloads itself until the run is over."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        status = run_status(run)
        uuids = [uuid for line in status.messages if (uuid := as_uuid(line.subject))]
        found = Segment.objects.filter(uuid__in=uuids).values_list("uuid", "pk")
        pages = {str(uuid): reverse("admin:episodic_segment_change", args=[pk]) for uuid, pk in found}
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Segments"),
            "opts": self.opts,
            "heading": heading_of(status),
            "run": status,
            "working": not (status.finished or status.failed),
            "may_repair": status.kind is JobKind.CHECK
            and any(line.severity is not MessageSeverity.GOOD for line in status.messages),
            "lines": [
                {"line": line, "text": say(line.text), "segment": pages.get(line.subject)} for line in status.messages
            ],
        }
        return TemplateResponse(request, "episodic/segment_run.html", context)
