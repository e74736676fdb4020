"""The first page and its parts; each figure on them needs its own permission."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.now.alarms import now_alarms
from apps.cockpit.now.page import now_figures, now_numbers, now_outlook, now_page, now_state
from apps.cockpit.pages import Page

PAGES = (
    Page(
        name="now",
        path="",
        view=now_page,
        permissions=(),
        title=_("Now"),
        icon="monitoring",
        words=_("overview home health"),
    ),
    Page(name="now_alarms", path="now/alarms/", view=now_alarms, permissions=()),
    Page(name="now_outlook", path="now/outlook/", view=now_outlook, permissions=()),
    Page(name="now_numbers", path="now/numbers/", view=now_numbers, permissions=("monitor.view_sample",)),
    Page(name="now_state", path="now/state/", view=now_state, permissions=()),
    Page(name="now_figures", path="now/figures/", view=now_figures, permissions=()),
)
