"""The addresses of the queue of decisions."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.decisions.alike import decisions_accept_alike, decisions_alike
from apps.cockpit.decisions.presence import decisions_presence
from apps.cockpit.decisions.review import decisions_act, decisions_undo, decisions_views
from apps.cockpit.decisions.shown import decision_detail, decisions_list, decisions_page
from apps.cockpit.pages import Page

SEE = ("semantic.view_conflict",)
REVIEW = (*SEE, "semantic.change_conflict")
PAGES = (
    Page(
        name="decisions",
        path="decisions/",
        view=decisions_page,
        permissions=SEE,
        title=_("Decisions"),
        icon="balance",
        words=_("conflicts queue review accept revert undo"),
    ),
    Page(name="decisions_list", path="decisions/list/", view=decisions_list, permissions=SEE),
    Page(name="decisions_act", path="decisions/act/", view=decisions_act, permissions=REVIEW),
    Page(name="decisions_undo", path="decisions/undo/", view=decisions_undo, permissions=REVIEW),
    Page(name="decisions_views", path="decisions/views/", view=decisions_views, permissions=SEE),
    Page(name="decisions_presence", path="decisions/presence/", view=decisions_presence, permissions=SEE),
    Page(name="decisions_accept_alike", path="decisions/alike/", view=decisions_accept_alike, permissions=REVIEW),
    Page(name="decisions_alike", path="decisions/<int:key>/alike/", view=decisions_alike, permissions=REVIEW),
    Page(name="decision", path="decisions/<int:key>/", view=decision_detail, permissions=SEE),
)
