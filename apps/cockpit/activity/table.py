"""The stream and the count of its new entries; each kind of entry needs its own permission."""

from apps.cockpit.activity.page import activity, activity_new
from apps.cockpit.pages import Page

PAGES = (
    Page(name="activity", path="activity/", view=activity, permissions=()),
    Page(name="activity_new", path="activity/new/", view=activity_new, permissions=()),
)
