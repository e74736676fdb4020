"""Addresses of the pages of invitations. An account with a bound has none of these permissions."""

from django.utils.translation import gettext_lazy as _

from apps.cockpit.invitations import views
from apps.cockpit.pages import Page

LOOK = ("accounts.view_invitation",)
INVITE = ("accounts.add_invitation",)
CHANGE = ("accounts.change_invitation",)

PAGES = (
    Page(
        name="invitations",
        path="access/invitations/",
        view=views.invitations,
        permissions=INVITE,
        title=_("Invitations"),
        icon="person_add",
        words=_("invite a person link account sign in"),
    ),
    Page(name="invitations_list", path="access/invitations/list/", view=views.invitations_list, permissions=LOOK),
    Page(
        name="invitation_revoke",
        path="access/invitations/<uuid:uuid>/revoke/",
        view=views.revoke,
        permissions=CHANGE,
    ),
)
