"""Addresses of conversations, and of what the hub does with notes without being asked for each."""

from django.urls import path

from apps.notes.rest import conversations

urlpatterns = [
    path("status", conversations.AutoMemoryStatusView.as_view(), name="auto-memory-status"),
    path("runs", conversations.RunsView.as_view(), name="extraction-runs"),
    path("runs/<uuid:uuid>", conversations.RunView.as_view(), name="extraction-run"),
    path("facts/<uuid:uuid>/undo", conversations.FactUndoView.as_view(), name="fact-undo"),
    path("sessions", conversations.SessionsView.as_view(), name="conversations"),
    path("sessions/<str:session_id>", conversations.SessionView.as_view(), name="conversation"),
    path("sessions/<str:session_id>/messages", conversations.SessionMessagesView.as_view(), name="messages"),
    path("sessions/<str:session_id>/events", conversations.SessionEventsView.as_view(), name="conversation-events"),
    path("compact", conversations.CompactView.as_view(), name="notes-compact"),
    path("compactions", conversations.CompactionsView.as_view(), name="notes-compactions"),
    path("compactions/<uuid:uuid>", conversations.CompactionView.as_view(), name="notes-compaction"),
    path("compactions/<uuid:uuid>/apply", conversations.CompactionApplyView.as_view(), name="notes-compaction-apply"),
    path(
        "compactions/<uuid:uuid>/discard",
        conversations.CompactionDiscardView.as_view(),
        name="notes-compaction-discard",
    ),
    path("compactions/<uuid:uuid>/undo", conversations.CompactionUndoView.as_view(), name="notes-compaction-undo"),
]
