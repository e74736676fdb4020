"""Addresses of semantic memory."""

from django.urls import path

from apps.semantic.rest import conflict_views, views

urlpatterns = [
    path("memories", views.MemoriesView.as_view(), name="memories"),
    path("memories/batch", views.BatchView.as_view(), name="memories-batch"),
    path("memories/<uuid:uuid>", views.MemoryView.as_view(), name="memory"),
    path("memories/<uuid:uuid>/reinforce", views.ReinforceView.as_view(), name="memory-reinforce"),
    path("memories/<uuid:uuid>/restore", views.RestoreView.as_view(), name="memory-restore"),
    path("memories/<uuid:uuid>/history", views.HistoryView.as_view(), name="memory-history"),
    path("conflicts", conflict_views.ConflictsView.as_view(), name="conflicts"),
    path("conflicts/<uuid:uuid>", conflict_views.ConflictView.as_view(), name="conflict"),
    path("conflicts/<uuid:uuid>/accept", conflict_views.AcceptView.as_view(), name="conflict-accept"),
    path("conflicts/<uuid:uuid>/override", conflict_views.OverrideView.as_view(), name="conflict-override"),
    path("conflicts/<uuid:uuid>/revert", conflict_views.RevertView.as_view(), name="conflict-revert"),
    path("search", views.SearchView.as_view(), name="search"),
    path("status", views.StatusView.as_view(), name="semantic-status"),
]
