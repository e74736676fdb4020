"""Addresses of knowledge sync."""

from django.urls import path

from apps.sync.rest import sources, syncs

urlpatterns = [
    path("sources", sources.SourcesView.as_view(), name="sync-sources"),
    path("sources/<uuid:uuid>", sources.SourceView.as_view(), name="sync-source"),
    path("sources/<uuid:uuid>/pause", sources.PauseView.as_view(), name="sync-pause"),
    path("sources/<uuid:uuid>/resume", sources.ResumeView.as_view(), name="sync-resume"),
    path("sources/<uuid:uuid>/state", sources.StateView.as_view(), name="sync-state"),
    path("sources/<uuid:uuid>/manifest", sources.ManifestView.as_view(), name="sync-manifest"),
    path("sources/<uuid:uuid>/files", sources.FilesView.as_view(), name="sync-files"),
    path("sources/<uuid:uuid>/sync", syncs.SyncView.as_view(), name="sync-sync"),
    path("sources/<uuid:uuid>/should-sync", syncs.ShouldSyncView.as_view(), name="sync-should-sync"),
    path("sources/<uuid:uuid>/sessions", syncs.SessionsView.as_view(), name="sync-sessions"),
    path("sources/<uuid:uuid>/preview", syncs.PreviewView.as_view(), name="sync-preview"),
    path("sources/<uuid:uuid>/checkpoints", syncs.CheckpointsView.as_view(), name="sync-checkpoints"),
    path("sources/<uuid:uuid>/rollback", syncs.RollbackView.as_view(), name="sync-rollback"),
    path("runs", syncs.RunsView.as_view(), name="sync-runs"),
    path("runs/<uuid:uuid>", syncs.RunView.as_view(), name="sync-run"),
    path("runs/<uuid:uuid>/changes", syncs.ChangesView.as_view(), name="sync-changes"),
    path("items", sources.ItemsView.as_view(), name="sync-items"),
    path("items/<uuid:uuid>", sources.ItemView.as_view(), name="sync-item"),
    path("items/<uuid:uuid>/diff", sources.DiffView.as_view(), name="sync-diff"),
    path("items/<uuid:uuid>/history", sources.HistoryView.as_view(), name="sync-history"),
    path("conflicts", syncs.PointerConflictsView.as_view(), name="sync-conflicts"),
    path("conflicts/<uuid:uuid>", syncs.PointerConflictView.as_view(), name="sync-conflict"),
    path("conflicts/<uuid:uuid>/resolve", syncs.ResolveView.as_view(), name="sync-resolve"),
    path("webhooks/<uuid:uuid>", syncs.WebhookView.as_view(), name="sync-webhook"),
]
