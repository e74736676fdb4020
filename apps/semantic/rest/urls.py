"""The addresses of semantic memory."""

from django.urls import path

from apps.semantic.rest import conflicts, memories

urlpatterns = [
    path("memories", memories.MemoriesView.as_view(), name="memories"),
    path("memories/batch", memories.BatchView.as_view(), name="memories-batch"),
    path("memories/delete", memories.DeletionView.as_view(), name="memories-delete"),
    path("memories/<uuid:uuid>", memories.MemoryView.as_view(), name="memory"),
    path("memories/<uuid:uuid>/reinforce", memories.ReinforceView.as_view(), name="memory-reinforce"),
    path("memories/<uuid:uuid>/restore", memories.RestoreView.as_view(), name="memory-restore"),
    path("memories/<uuid:uuid>/history", memories.HistoryView.as_view(), name="memory-history"),
    path("conflicts", conflicts.ConflictsView.as_view(), name="conflicts"),
    path("conflicts/<uuid:uuid>", conflicts.ConflictView.as_view(), name="conflict"),
    path("conflicts/<uuid:uuid>/accept", conflicts.AcceptView.as_view(), name="conflict-accept"),
    path("conflicts/<uuid:uuid>/override", conflicts.OverrideView.as_view(), name="conflict-override"),
    path("conflicts/<uuid:uuid>/revert", conflicts.RevertView.as_view(), name="conflict-revert"),
    path("search", memories.SearchView.as_view(), name="search"),
    path("status", memories.StoreStatusView.as_view(), name="semantic-status"),
]
