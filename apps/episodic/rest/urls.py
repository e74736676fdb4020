"""Addresses of the timeline."""

from django.urls import path

from apps.episodic.rest import views

urlpatterns = [
    path("events", views.EventsView.as_view(), name="events"),
    path("events/batch", views.EventBatchView.as_view(), name="events-batch"),
    path("events/import", views.EventImportView.as_view(), name="events-import"),
    path("events/<uuid:uuid>", views.EventView.as_view(), name="event"),
    path("query", views.EventQueryView.as_view(), name="events-query"),
    path("status", views.TimelineStatusView.as_view(), name="timeline-status"),
    path("segments", views.SegmentsView.as_view(), name="segments"),
]
