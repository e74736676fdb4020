"""Addresses of semantic memory."""

from django.urls import path

from apps.semantic.rest import views

urlpatterns = [
    path("memories", views.MemoriesView.as_view(), name="memories"),
    path("memories/batch", views.BatchView.as_view(), name="memories-batch"),
    path("memories/<uuid:uuid>", views.MemoryView.as_view(), name="memory"),
    path("memories/<uuid:uuid>/reinforce", views.ReinforceView.as_view(), name="memory-reinforce"),
    path("memories/<uuid:uuid>/restore", views.RestoreView.as_view(), name="memory-restore"),
    path("memories/<uuid:uuid>/history", views.HistoryView.as_view(), name="memory-history"),
    path("search", views.SearchView.as_view(), name="search"),
    path("status", views.StatusView.as_view(), name="semantic-status"),
]
