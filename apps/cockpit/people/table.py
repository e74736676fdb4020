"""The pages of people."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.admin.person_export import person_export
from apps.cockpit.pages import Page
from apps.cockpit.people.look import person_look, person_look_stop
from apps.cockpit.people.pages import EXPORTS, people_page, person_page
from apps.cockpit.people.removal import erasure_page, person_forget

READS = ("semantic.view_memory",)
FORGETS = ("people.add_erasure",)
LOOKS = ("people.add_look",)

PAGES: tuple[Page, ...] = (
    Page(
        name="people",
        path="people/",
        view=people_page,
        permissions=READS,
        title=_("People"),
        icon="group",
        words=_("person user household export forget erase"),
    ),
    Page(name="person", path="people/person/", view=person_page, permissions=READS),
    Page(name="person_export", path="people/export/", view=person_export, permissions=EXPORTS),
    Page(name="person_forget", path="people/forget/", view=person_forget, permissions=FORGETS),
    Page(name="person_look", path="people/look/", view=person_look, permissions=LOOKS),
    # For everyone who may enter the admin: a role that was taken away ends the look, and must not keep it open.
    Page(name="person_look_stop", path="people/look/stop/", view=person_look_stop, permissions=()),
    Page(name="erasure", path="people/erasures/<uuid:uuid>/", view=erasure_page, permissions=FORGETS),
)
