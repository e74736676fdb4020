"""Addresses of conversations, and of what is learnt from them."""

from django.urls import path

from apps.notes.rest import conversations, runs

urlpatterns = [
    path("status", runs.AutoMemoryStatusView.as_view(), name="auto-memory-status"),
    path("runs", runs.RunsView.as_view(), name="extraction-runs"),
    path("runs/<uuid:uuid>", runs.RunView.as_view(), name="extraction-run"),
    path("sessions", conversations.SessionsView.as_view(), name="conversations"),
    path("sessions/<str:session_id>", conversations.SessionView.as_view(), name="conversation"),
    path("sessions/<str:session_id>/messages", conversations.SessionMessagesView.as_view(), name="messages"),
    path("sessions/<str:session_id>/events", conversations.SessionEventsView.as_view(), name="conversation-events"),
]
