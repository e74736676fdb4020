"""Addresses of the page of background work."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.pages import Page
from apps.cockpit.work import actions, views

LOOK, CHANGE = ("django_q.view_schedule",), ("django_q.view_schedule", "django_q.change_schedule")
FAILED, HANDLE = ("django_q.view_failure",), ("django_q.view_failure", "django_q.change_failure")
RESTART = ("core.view_hubprocess", "django_q.change_schedule")
ROUTES, REDELIVER = ("events.view_delivery",), ("events.view_delivery", "events.redeliver_delivery")

PAGES = (
    Page(
        name="work",
        path="work/",
        view=views.work,
        permissions=LOOK,
        title=_("Work"),
        icon="manufacturing",
        words=_("schedules jobs tasks queue failed running background"),
    ),
    Page(name="work_queue", path="work/queue/", view=views.queue_fragment, permissions=LOOK),
    Page(name="work_schedules", path="work/schedules/", view=views.schedules_fragment, permissions=LOOK),
    Page(name="work_run", path="work/schedules/<int:pk>/run/", view=actions.run_now, permissions=CHANGE),
    Page(name="work_restart", path="work/restart/", view=actions.restart_worker, permissions=RESTART),
    Page(name="work_pause", path="work/schedules/<int:pk>/pause/", view=actions.pause, permissions=CHANGE),
    Page(name="work_resume", path="work/schedules/<int:pk>/resume/", view=actions.resume, permissions=CHANGE),
    Page(name="work_failures", path="work/failures/", view=views.failures_fragment, permissions=FAILED),
    Page(name="work_failure", path="work/failures/<slug:key>/", view=views.failure, permissions=FAILED),
    Page(name="work_rerun", path="work/failures/<slug:key>/rerun/", view=actions.rerun, permissions=HANDLE),
    Page(name="work_aside", path="work/failures/<slug:key>/aside/", view=actions.set_aside, permissions=HANDLE),
    Page(
        name="work_deliveries",
        path="work/deliveries/",
        view=views.deliveries,
        permissions=ROUTES,
        title=_("Deliveries"),
        icon="outbox",
        words=_("events outbox subscribers redeliver"),
    ),
    Page(name="work_routes", path="work/deliveries/now/", view=views.routes_fragment, permissions=ROUTES),
    Page(name="work_redeliver", path="work/deliveries/again/", view=actions.redeliver, permissions=REDELIVER),
)
