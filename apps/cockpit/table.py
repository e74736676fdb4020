"""The one table of the cockpit's pages and fragments: where each is, and who may see it."""

from functools import partial

from django.utils.translation import gettext_lazy as _

from apps.cockpit import access, alarms, index, invitations, palette, work
from apps.cockpit.activity.page import activity, activity_new
from apps.cockpit.admin.audit import audit_csv, audit_page, list_context
from apps.cockpit.admin.person_export import person_export
from apps.cockpit.ask.page import ask_page, ask_question
from apps.cockpit.decisions import review, shown
from apps.cockpit.first_steps import actions as steps
from apps.cockpit.first_steps.progress import NEEDED, steps_progress
from apps.cockpit.now import page as now
from apps.cockpit.now.outlook import alarms_part
from apps.cockpit.pages import Page, fragment
from apps.cockpit.people import pages as people

SAMPLE = (*NEEDED, "semantic.delete_memory", "people.add_erasure")
ALARMS = ("core.view_hubprocess", "monitor.change_alarmsettings")
READS = ("semantic.view_memory",)
FORGETS = ("people.add_erasure",)
DECISIONS = ("semantic.view_conflict",)
REVIEW = (*DECISIONS, "semantic.change_conflict")
WORK, CHANGE_WORK = ("django_q.view_schedule",), ("django_q.view_schedule", "django_q.change_schedule")
FAILED, HANDLE = ("django_q.view_failure",), ("django_q.view_failure", "django_q.change_failure")
RESTART = ("core.view_hubprocess", "django_q.change_schedule")
ROUTES, REDELIVER = ("events.view_delivery",), ("events.view_delivery", "events.redeliver_delivery")
# The ids of all users are on it.
INDEX = ("semantic.view_memory", "llm.view_embeddingspace")
CHANGE_INDEX = (*INDEX, index.CHANGE)
KEYS = ("core.view_apikey",)
AUDIT = ("audit.view_auditentry",)

PAGES: tuple[Page, ...] = (
    # Each figure of the first page needs its own permission, and so does each kind of entry of the stream.
    Page(
        name="now",
        path="",
        view=now.now_page,
        permissions=(),
        title=_("Now"),
        icon="monitoring",
        words=_("overview home health"),
    ),
    Page(
        name="now_alarms",
        path="now/alarms/",
        view=fragment("cockpit/now/alarms.html", partial(alarms_part, of_now=True)),
        permissions=(),
    ),
    Page(
        name="now_outlook",
        path="now/outlook/",
        view=fragment("cockpit/now/outlook.html", now.outlook_part),
        permissions=(),
    ),
    Page(
        name="now_numbers",
        path="now/numbers/",
        view=fragment("cockpit/now/numbers.html", now.numbers_part),
        permissions=("monitor.view_sample",),
    ),
    Page(name="now_state", path="now/state/", view=fragment("cockpit/now/state.html", now.state_part), permissions=()),
    Page(
        name="now_figures",
        path="now/figures/",
        view=fragment("cockpit/now/figures.html", now.figures_part),
        permissions=(),
    ),
    # The card of the first steps is a part of the first page.
    Page(
        name="first_steps",
        path="first-steps/",
        view=fragment("cockpit/first_steps/progress.html", steps_progress),
        permissions=NEEDED,
    ),
    Page(name="first_key", path="first-steps/key/", view=steps.make_key, permissions=NEEDED),
    Page(name="first_memory", path="first-steps/memory/", view=steps.first_memory, permissions=NEEDED),
    Page(name="first_search", path="first-steps/search/", view=steps.first_search, permissions=NEEDED),
    Page(name="sample", path="first-steps/sample/", view=steps.sample, permissions=SAMPLE),
    Page(name="first_steps_dismiss", path="first-steps/dismiss/", view=steps.dismiss, permissions=NEEDED),
    Page(name="activity", path="activity/", view=activity, permissions=()),
    Page(name="activity_new", path="activity/new/", view=activity_new, permissions=()),
    Page(
        name="alarms",
        path="alarms/",
        view=alarms.alarms,
        permissions=ALARMS,
        title=_("Alarms"),
        icon="notifications",
        words=_("mail webhook notify warning slack"),
    ),
    Page(name="alarms_test", path="alarms/test/", view=alarms.send_test, permissions=ALARMS),
    Page(
        name="ask",
        path="ask/",
        view=ask_page,
        permissions=READS,
        title=_("Ask"),
        icon="quiz",
        words=_("search question recall debug explain missing why evaluate"),
    ),
    Page(name="ask_question", path="ask/question/", view=ask_question, permissions=READS),
    Page(
        name="people",
        path="people/",
        view=people.people_page,
        permissions=READS,
        title=_("People"),
        icon="group",
        words=_("person user household export forget erase"),
    ),
    Page(name="person", path="people/person/", view=people.person_page, permissions=READS),
    Page(name="person_export", path="people/export/", view=person_export, permissions=people.EXPORTS),
    Page(name="person_forget", path="people/forget/", view=people.person_forget, permissions=FORGETS),
    Page(name="person_look", path="people/look/", view=people.person_look, permissions=("people.add_look",)),
    # For everyone who may enter the admin: a role that was taken away ends the look, and must not keep it open.
    Page(name="person_look_stop", path="people/look/stop/", view=people.person_look_stop, permissions=()),
    Page(name="erasure", path="people/erasures/<uuid:uuid>/", view=people.erasure_page, permissions=FORGETS),
    Page(
        name="decisions",
        path="decisions/",
        view=shown.decisions_page,
        permissions=DECISIONS,
        title=_("Decisions"),
        icon="balance",
        words=_("conflicts queue review accept revert undo"),
    ),
    Page(name="decisions_list", path="decisions/list/", view=shown.decisions_list, permissions=DECISIONS),
    Page(name="decisions_act", path="decisions/act/", view=review.decisions_act, permissions=REVIEW),
    Page(name="decisions_undo", path="decisions/undo/", view=review.decisions_undo, permissions=REVIEW),
    Page(name="decisions_views", path="decisions/views/", view=review.decisions_views, permissions=DECISIONS),
    Page(name="decisions_presence", path="decisions/presence/", view=review.decisions_presence, permissions=DECISIONS),
    Page(
        name="decisions_accept_alike", path="decisions/alike/", view=review.decisions_accept_alike, permissions=REVIEW
    ),
    Page(name="decisions_alike", path="decisions/<int:key>/alike/", view=review.decisions_alike, permissions=REVIEW),
    Page(name="decision", path="decisions/<int:key>/", view=shown.decision_detail, permissions=DECISIONS),
    Page(
        name="work",
        path="work/",
        view=work.work,
        permissions=WORK,
        title=_("Work"),
        icon="manufacturing",
        words=_("schedules jobs tasks queue failed running background"),
    ),
    Page(
        name="work_queue",
        path="work/queue/",
        view=fragment("cockpit/work/queue.html", work.queue_context),
        permissions=WORK,
    ),
    Page(
        name="work_schedules",
        path="work/schedules/",
        view=fragment("cockpit/work/schedules.html", work.schedules_context),
        permissions=WORK,
    ),
    Page(name="work_run", path="work/schedules/<int:pk>/run/", view=work.run_now, permissions=CHANGE_WORK),
    Page(name="work_restart", path="work/restart/", view=work.restart_worker, permissions=RESTART),
    Page(name="work_pause", path="work/schedules/<int:pk>/pause/", view=work.pause, permissions=CHANGE_WORK),
    Page(name="work_resume", path="work/schedules/<int:pk>/resume/", view=work.resume, permissions=CHANGE_WORK),
    Page(
        name="work_failures",
        path="work/failures/",
        view=fragment("cockpit/work/failures.html", work.failures_context),
        permissions=FAILED,
    ),
    Page(name="work_failure", path="work/failures/<slug:key>/", view=work.failure, permissions=FAILED),
    Page(name="work_rerun", path="work/failures/<slug:key>/rerun/", view=work.rerun, permissions=HANDLE),
    Page(name="work_aside", path="work/failures/<slug:key>/aside/", view=work.set_aside, permissions=HANDLE),
    Page(
        name="work_deliveries",
        path="work/deliveries/",
        view=work.deliveries,
        permissions=ROUTES,
        title=_("Deliveries"),
        icon="outbox",
        words=_("events outbox subscribers redeliver"),
    ),
    Page(
        name="work_routes",
        path="work/deliveries/now/",
        view=fragment("cockpit/work/routes.html", work.routes_context),
        permissions=ROUTES,
    ),
    Page(name="work_redeliver", path="work/deliveries/again/", view=work.redeliver, permissions=REDELIVER),
    Page(
        name="index",
        path="index/",
        view=index.index,
        permissions=INDEX,
        title=_("Index"),
        icon="hub",
        words=_("vectors graph hnsw snapshot recall embedding search"),
    ),
    Page(name="index_live", path="index/live/", view=index.live_fragment, permissions=INDEX),
    Page(name="index_build", path="index/build/", view=index.build, permissions=CHANGE_INDEX),
    Page(name="index_verify", path="index/verify/", view=index.verify, permissions=CHANGE_INDEX),
    Page(
        name="access",
        path="access/",
        view=access.access,
        permissions=KEYS,
        title=_("Access"),
        icon="key",
        words=_("keys api secret rotate revoke expiry bound use"),
    ),
    Page(
        name="access_keys",
        path="access/keys/",
        view=fragment("cockpit/access/keys.html", access.keys_context),
        permissions=KEYS,
    ),
    # An account with a bound has none of the permissions of invitations.
    Page(
        name="invitations",
        path="access/invitations/",
        view=invitations.invitations,
        permissions=("accounts.add_invitation",),
        title=_("Invitations"),
        icon="person_add",
        words=_("invite a person link account sign in"),
    ),
    Page(
        name="invitations_list",
        path="access/invitations/list/",
        view=fragment("cockpit/invitations/list.html", invitations.rows_context),
        permissions=("accounts.view_invitation",),
    ),
    Page(
        name="invitation_revoke",
        path="access/invitations/<uuid:uuid>/revoke/",
        view=invitations.revoke,
        permissions=("accounts.change_invitation",),
    ),
    Page(
        name="audit",
        path="audit/",
        view=audit_page,
        permissions=AUDIT,
        title=_("Audit"),
        icon="policy",
        words=_("log history who did what entries changes sign-in"),
    ),
    Page(
        name="audit_list", path="audit/list/", view=fragment("cockpit/audit_list.html", list_context), permissions=AUDIT
    ),
    Page(name="audit_csv", path="audit/csv/", view=audit_csv, permissions=AUDIT),
    # Every account may ask the palette: it finds what the account may see.
    Page(name="palette", path="palette/", view=palette.palette_results, permissions=()),
)
