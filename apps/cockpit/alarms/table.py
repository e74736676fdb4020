"""Addresses of the page of alarms."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.alarms import views
from apps.cockpit.pages import Page

CHANGE = ("core.view_hubprocess", "monitor.change_alarmsettings")

PAGES = (
    Page(
        name="alarms",
        path="alarms/",
        view=views.alarms,
        permissions=CHANGE,
        title=_("Alarms"),
        icon="notifications",
        words=_("mail webhook notify warning slack"),
    ),
    Page(name="alarms_test", path="alarms/test/", view=views.send_test, permissions=CHANGE),
)
