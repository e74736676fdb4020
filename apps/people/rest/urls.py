"""The addresses of people."""

from django.urls import path

from apps.people.rest import connecting, erasures, names

urlpatterns = [
    path("users", names.UsersView.as_view(), name="users"),
    path("users/<path:user_id>", names.UserView.as_view(), name="user"),
    path("households", names.HouseholdsView.as_view(), name="households"),
    path("personas", names.PersonasView.as_view(), name="personas"),
    path("projects", names.ProjectsView.as_view(), name="projects"),
    path("types", names.TypesView.as_view(), name="types"),
    path("connect", connecting.ConnectView.as_view(), name="connect"),
    path("connect/token", connecting.ConnectTokenView.as_view(), name="connect-token"),
    path("erasures", erasures.ErasuresView.as_view(), name="erasures"),
    path("erasures/<uuid:uuid>", erasures.ErasureView.as_view(), name="erasure"),
    path("sessions", names.SessionsView.as_view(), name="sessions"),
]
