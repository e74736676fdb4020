"""The actions on sources in the admin: sync, pause, resume, and what a deletion takes along."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, override
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextInputWidget

from apps.core.admin.kit import after_dialog, found_or_404, operator_access
from apps.core.admin.steps import make_dialog
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.core.words import Words
from apps.sync.admin.words import RUN_PAGE, SOURCE_PAGE, request_run
from apps.sync.models import KnowledgeSource, SyncKind, SyncRun
from apps.sync.services import source_pause, source_resume

ON_PAGE = ["view", "change"]
SYNC_DIALOG = make_dialog(
    _("Sync it now?"),
    _(
        "What has changed since the last sync is fetched, read and written, in the background. The first sync "
        "of a source, and one after its history was rewritten, reads everything."
    ),
    _("Sync"),
)
FULL_DIALOG = make_dialog(
    _("Read everything again?"),
    _(
        "Every file is read again and compared with every pointer, in the background. Pointers that are correct are "
        "not rewritten, and nothing unchanged is embedded again."
    ),
    _("Sync everything"),
)
RESUME_DIALOG = make_dialog(
    _("Let triggers start syncs again?"),
    _(
        "A due sync starts within a minute. After a rollback it would write what was rolled back again, unless the "
        "source has changed in the meantime."
    ),
    _("Resume"),
)


class PauseForm(BaseDialogForm):
    """Why a source is paused."""

    reason = forms.CharField(
        required=False,
        max_length=500,
        label=_("Why, for your colleagues"),
        widget=UnfoldAdminTextInputWidget,
    )


PAUSE_DIALOG = make_dialog(
    _("Pause this source?"),
    _(
        "No trigger starts a sync until it is resumed; its pointers stay as they are and can still be found. It can "
        "still be synced by hand."
    ),
    _("Pause"),
    PauseForm,
)


class SourceSteps(ModelAdmin):
    """The actions of the list and of the page of a source."""

    actions = ("sync_chosen", "sync_all_of_chosen")
    actions_detail: ClassVar[list[Any]] = [
        "sync_this",
        "dry_run",
        {"title": _("More"), "icon": "more_vert", "items": ["sync_all_of_this", "pause_this", "resume_this"]},
    ]

    @action(description=_("Sync now"), icon="sync", permissions=["change"])
    def sync_chosen(self, request: HttpRequest, queryset: QuerySet[KnowledgeSource]) -> None:
        self.request_runs(request, queryset, SyncKind.INCREMENTAL)

    @action(description=_("Sync everything again"), icon="sync_alt", permissions=["change"])
    def sync_all_of_chosen(self, request: HttpRequest, queryset: QuerySet[KnowledgeSource]) -> None:
        self.request_runs(request, queryset, SyncKind.FULL)

    @action(description=_("Sync now"), icon="sync", permissions=ON_PAGE, dialog=SYNC_DIALOG)
    def sync_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self.request_on_page(request, object_id, SyncKind.INCREMENTAL)

    @action(description=_("Sync everything"), icon="sync_alt", permissions=ON_PAGE, dialog=FULL_DIALOG)
    def sync_all_of_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self.request_on_page(request, object_id, SyncKind.FULL)

    @action(description=_("Pause"), icon="pause", permissions=ON_PAGE, dialog=PAUSE_DIALOG)
    def pause_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        pause = partial(source_pause, reason=form.cleaned_data["reason"])
        return self.change_on_page(request, object_id, pause, _("Paused."))

    @action(description=_("Resume"), icon="play_arrow", permissions=ON_PAGE, dialog=RESUME_DIALOG)
    def resume_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self.change_on_page(request, object_id, source_resume, _("Resumed."))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the actions that make sense in the state of a source."""
        source: KnowledgeSource | None = self.get_object(request, str(object_id))
        if source is None:
            return []
        left_out = {"pause_this" if source.paused else "resume_this"}
        if not source.enabled:
            left_out |= {"sync_this", "sync_all_of_this", "pause_this"}
        actions = super().get_actions_detail(request, object_id)
        return [one for one in actions if one.method.original_function_name not in left_out]

    def request_on_page(self, request: HttpRequest, object_id: str, kind: SyncKind) -> HttpResponse:
        """Request a sync of the source of a page, and go to the page that shows its progress."""
        source = found_or_404(self.get_object(request, object_id))
        run = self.request_run(request, source, kind)
        page = reverse(RUN_PAGE, args=[run.pk]) if run else reverse(SOURCE_PAGE, args=[source.pk])
        return after_dialog(request, page)

    def request_runs(self, request: HttpRequest, sources: Iterable[KnowledgeSource], kind: SyncKind) -> None:
        """Request a sync of each of the chosen sources."""
        runs = [run for source in sources if (run := self.request_run(request, source, kind))]
        if runs:
            said = ngettext(
                "%(count)s sync requested. Progress is under Syncs.",
                "%(count)s syncs requested. Progress is under Syncs.",
                len(runs),
            )
            messages.success(request, said % {"count": len(runs)})

    def request_run(self, request: HttpRequest, source: KnowledgeSource, kind: SyncKind) -> SyncRun | None:
        """Request a sync of a source; a refusal is shown with its reason."""
        run = request_run(request, source, kind)
        if run is not None:
            self.log_change(request, source, f"{SyncKind(run.kind).label} sync requested.")
        return run

    def change_on_page(
        self, request: HttpRequest, object_id: str, service: Callable[..., Any], said: Words
    ) -> HttpResponse:
        """Apply a service to the source of a page, and go back to the page."""
        source = found_or_404(self.get_object(request, object_id))
        try:
            service(access=operator_access(request), uuid=source.uuid)
        except MemoryHubError as error:
            messages.error(request, say(str(error.detail)))
        else:
            with override("en"):
                self.log_change(request, source, str(said))
            messages.success(request, said)
        return after_dialog(request, reverse(SOURCE_PAGE, args=[source.pk]))
