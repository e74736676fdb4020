"""Addresses below /accounts/: the pages of allauth that are offered here. There is no sign-up, and no mail is sent."""

from allauth.account import views
from django.urls import include, path, re_path

from apps.accounts.admin import invited, own

urlpatterns = [
    path("", own.overview, name="account_overview"),
    path("language/", own.choose_language, name="account_language"),
    path("login/", views.login, name="account_login"),
    path("logout/", views.logout, name="account_logout"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("reauthenticate/", views.reauthenticate, name="account_reauthenticate"),
    path("password/change/", views.password_change, name="account_change_password"),
    path("password/set/", views.password_set, name="account_set_password"),
    path("password/reset/", own.forgotten, name="account_reset_password"),
    path(
        "password/reset/key/done/",
        views.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("2fa/", include("allauth.mfa.urls")),
    path("invitation/", invited.invitation, name="account_invitation"),
    path("invitation/<str:token>/", invited.invitation_link, name="account_invitation_link"),
    path("sessions/", own.sessions, name="usersessions_list"),
]
