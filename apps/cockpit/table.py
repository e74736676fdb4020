"""The one table of the cockpit's pages and fragments: where each is, and who may see it."""

from functools import partial

from django.utils.translation import gettext_lazy as _

from apps.cockpit import access, alarms, doctor, index, invitations, palette, work
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
HUB = ("core.view_hubprocess",)
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
    Page("now", "", now.now_page, (), title=_("Now"), icon="monitoring", words=_("overview home health")),
    Page("now_alarms", "now/alarms/", fragment("cockpit/now/alarms.html", partial(alarms_part, of_now=True)), ()),
    Page("now_outlook", "now/outlook/", fragment("cockpit/now/outlook.html", now.outlook_part), ()),
    Page(
        "now_numbers", "now/numbers/", fragment("cockpit/now/numbers.html", now.numbers_part), ("monitor.view_sample",)
    ),
    Page("now_state", "now/state/", fragment("cockpit/now/state.html", now.state_part), ()),
    Page("now_figures", "now/figures/", fragment("cockpit/now/figures.html", now.figures_part), ()),
    # The card of the first steps is a part of the first page.
    Page("first_steps", "first-steps/", fragment("cockpit/first_steps/progress.html", steps_progress), NEEDED),
    Page("first_key", "first-steps/key/", steps.make_key, NEEDED),
    Page("first_memory", "first-steps/memory/", steps.first_memory, NEEDED),
    Page("first_search", "first-steps/search/", steps.first_search, NEEDED),
    Page("sample", "first-steps/sample/", steps.sample, SAMPLE),
    Page("first_steps_dismiss", "first-steps/dismiss/", steps.dismiss, NEEDED),
    Page("activity", "activity/", activity, ()),
    Page("activity_new", "activity/new/", activity_new, ()),
    Page(
        "alarms",
        "alarms/",
        alarms.alarms,
        ALARMS,
        title=_("Alarms"),
        icon="notifications",
        words=_("mail webhook notify warning slack"),
    ),
    Page("alarms_test", "alarms/test/", alarms.send_test, ALARMS),
    Page(
        "doctor",
        "doctor/",
        doctor.doctor,
        HUB,
        title=_("Doctor"),
        icon="stethoscope",
        words=_("examine check health repair verify files checksum"),
    ),
    Page("doctor_report", "doctor/report/", doctor.report, HUB),
    Page(
        "ask",
        "ask/",
        ask_page,
        READS,
        title=_("Ask"),
        icon="quiz",
        words=_("search question recall debug explain missing why evaluate"),
    ),
    Page("ask_question", "ask/question/", ask_question, READS),
    Page(
        "people",
        "people/",
        people.people_page,
        READS,
        title=_("People"),
        icon="group",
        words=_("person user household export forget erase"),
    ),
    Page("person", "people/person/", people.person_page, READS),
    Page("person_export", "people/export/", person_export, people.EXPORTS),
    Page("person_forget", "people/forget/", people.person_forget, FORGETS),
    Page("person_look", "people/look/", people.person_look, ("people.add_look",)),
    # For everyone who may enter the admin: a role that was taken away ends the look, and must not keep it open.
    Page("person_look_stop", "people/look/stop/", people.person_look_stop, ()),
    Page("erasure", "people/erasures/<uuid:uuid>/", people.erasure_page, FORGETS),
    Page(
        "decisions",
        "decisions/",
        shown.decisions_page,
        DECISIONS,
        title=_("Decisions"),
        icon="balance",
        words=_("conflicts queue review accept revert undo"),
    ),
    Page("decisions_list", "decisions/list/", shown.decisions_list, DECISIONS),
    Page("decisions_act", "decisions/act/", review.decisions_act, REVIEW),
    Page("decisions_undo", "decisions/undo/", review.decisions_undo, REVIEW),
    Page("decisions_views", "decisions/views/", review.decisions_views, DECISIONS),
    Page("decisions_presence", "decisions/presence/", review.decisions_presence, DECISIONS),
    Page("decisions_accept_alike", "decisions/alike/", review.decisions_accept_alike, REVIEW),
    Page("decisions_alike", "decisions/<int:key>/alike/", review.decisions_alike, REVIEW),
    Page("decision", "decisions/<int:key>/", shown.decision_detail, DECISIONS),
    Page(
        "work",
        "work/",
        work.work,
        WORK,
        title=_("Work"),
        icon="manufacturing",
        words=_("schedules jobs tasks queue failed running background"),
    ),
    Page("work_queue", "work/queue/", fragment("cockpit/work/queue.html", work.queue_context), WORK),
    Page("work_schedules", "work/schedules/", fragment("cockpit/work/schedules.html", work.schedules_context), WORK),
    Page("work_run", "work/schedules/<int:pk>/run/", work.run_now, CHANGE_WORK),
    Page("work_restart", "work/restart/", work.restart_worker, RESTART),
    Page("work_pause", "work/schedules/<int:pk>/pause/", work.pause, CHANGE_WORK),
    Page("work_resume", "work/schedules/<int:pk>/resume/", work.resume, CHANGE_WORK),
    Page("work_failures", "work/failures/", fragment("cockpit/work/failures.html", work.failures_context), FAILED),
    Page("work_failure", "work/failures/<slug:key>/", work.failure, FAILED),
    Page("work_rerun", "work/failures/<slug:key>/rerun/", work.rerun, HANDLE),
    Page("work_aside", "work/failures/<slug:key>/aside/", work.set_aside, HANDLE),
    Page(
        "work_deliveries",
        "work/deliveries/",
        work.deliveries,
        ROUTES,
        title=_("Deliveries"),
        icon="outbox",
        words=_("events outbox subscribers redeliver"),
    ),
    Page("work_routes", "work/deliveries/now/", fragment("cockpit/work/routes.html", work.routes_context), ROUTES),
    Page("work_redeliver", "work/deliveries/again/", work.redeliver, REDELIVER),
    Page(
        "index",
        "index/",
        index.index,
        INDEX,
        title=_("Index"),
        icon="hub",
        words=_("vectors graph hnsw snapshot recall embedding search"),
    ),
    Page("index_live", "index/live/", index.live_fragment, INDEX),
    Page("index_build", "index/build/", index.build, CHANGE_INDEX),
    Page("index_verify", "index/verify/", index.verify, CHANGE_INDEX),
    Page(
        "access",
        "access/",
        access.access,
        KEYS,
        title=_("Access"),
        icon="key",
        words=_("keys api secret rotate revoke expiry bound use"),
    ),
    Page("access_keys", "access/keys/", fragment("cockpit/access/keys.html", access.keys_context), KEYS),
    # An account with a bound has none of the permissions of invitations.
    Page(
        "invitations",
        "access/invitations/",
        invitations.invitations,
        ("accounts.add_invitation",),
        title=_("Invitations"),
        icon="person_add",
        words=_("invite a person link account sign in"),
    ),
    Page(
        "invitations_list",
        "access/invitations/list/",
        fragment("cockpit/invitations/list.html", invitations.rows_context),
        ("accounts.view_invitation",),
    ),
    Page(
        "invitation_revoke",
        "access/invitations/<uuid:uuid>/revoke/",
        invitations.revoke,
        ("accounts.change_invitation",),
    ),
    Page(
        "audit",
        "audit/",
        audit_page,
        AUDIT,
        title=_("Audit"),
        icon="policy",
        words=_("log history who did what entries changes sign-in"),
    ),
    Page("audit_list", "audit/list/", fragment("cockpit/audit_list.html", list_context), AUDIT),
    Page("audit_csv", "audit/csv/", audit_csv, AUDIT),
    # Every account may ask the palette: it finds what the account may see.
    Page("palette", "palette/", palette.palette_results, ()),
)
