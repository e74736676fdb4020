"""The admin pages of background work: schedules, tasks that wait and tasks that failed."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django_q.admin import FailAdmin, QueueAdmin, ScheduleAdmin, resubmit_task
from django_q.models import Failure, OrmQ, Schedule, Success
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core.admin.kit import NOTHING, ReadOnly, column, excerpt, moment, preformatted

# Successes have no list: most tasks keep no record of them.
for model in (Schedule, Success, Failure, OrmQ):
    admin.site.unregister(model)


@admin.register(Schedule)
class SchedulesAdmin(ScheduleAdmin, ModelAdmin):
    """Schedules of background work. The function cannot be edited, or this page could run any code."""

    list_display = ["name", "func", "every", "runs_next"]
    list_display_links = ["name"]
    list_filter = ["schedule_type"]
    list_fullwidth = True
    fields = ["name", "func", "schedule_type", "minutes", "next_run"]
    readonly_fields = ["name", "func"]

    @display(description=_("Every"), ordering="schedule_type")
    def every(self, schedule: Schedule) -> str:
        if schedule.schedule_type == Schedule.MINUTES:
            return ngettext("minute", "%(count)s minutes", schedule.minutes) % {"count": schedule.minutes}
        return str(schedule.get_schedule_type_display())

    runs_next = column(_("Runs next at"), lambda schedule: moment(schedule.next_run), ordering="next_run")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Schedule | None = None) -> bool:
        return False


@admin.register(Failure)
class FailureAdmin(ReadOnly, FailAdmin, ModelAdmin):
    """Tasks that failed on every try. Their arguments are ids."""

    list_display = ["name", "func", "began", "error"]
    list_filter: list[str] = []
    list_fullwidth = True
    search_help_text = _("Part of the name or of the function")
    actions = ["resubmit"]
    fields = ["title", "function", "given", ("began", "ended"), "tries", "report"]

    title = column(_("Name"), lambda task: str(task.name))
    function = column(_("Function"), lambda task: str(task.func))

    @display(description=_("Arguments"))
    def given(self, task: Failure) -> str:
        named = [f"{name}={value!r}" for name, value in (task.kwargs or {}).items()]
        return ", ".join([*map(repr, task.args or ()), *named]) or NOTHING

    began = column(_("Began at"), lambda task: moment(task.started), ordering="started")
    ended = column(_("Ended at"), lambda task: moment(task.stopped))
    tries = column(_("Tries"), lambda task: str(task.attempt_count))

    @display(description=_("Error"))
    def error(self, task: Failure) -> SafeString:
        lines = str(task.result or "").strip().splitlines()
        return excerpt(lines[-1] if lines else NOTHING)

    report = column(_("Error"), lambda task: preformatted(str(task.result or NOTHING)))

    def get_readonly_fields(self, request: HttpRequest, obj: Failure | None = None) -> list[str]:
        return ["title", "function", "given", "began", "ended", "tries", "report"]

    @action(description=_("Run the selected tasks again"), icon="replay", permissions=["resubmit"])
    def resubmit(self, request: HttpRequest, queryset: QuerySet[Failure]) -> None:
        tasks = list(queryset)
        resubmit_task(self, request, tasks)
        said = ngettext("%(count)s task is queued again.", "%(count)s tasks are queued again.", len(tasks))
        messages.success(request, said % {"count": len(tasks)})

    def has_resubmit_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("django_q.change_failure")


@admin.register(OrmQ)
class QueuedTasksAdmin(ReadOnly, QueueAdmin, ModelAdmin):
    """Waiting tasks, and those that a worker has taken (no other worker takes them until then)."""

    list_display = ["name", "func", "taken_until"]
    list_filter: list[str] = []
    list_fullwidth = True
    fields = ["name", "func", "args", "kwargs", "taken_until"]
    readonly_fields = fields

    taken_until = column(_("Not before"), lambda task: moment(task.lock), ordering="lock")
