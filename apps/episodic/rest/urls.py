"""Addresses of the timeline."""

from django.urls import path

from apps.episodic.rest import events, queries

urlpatterns = [
    path("events", events.EventsView.as_view(), name="events"),
    path("events/batch", events.EventBatchView.as_view(), name="events-batch"),
    path("query", queries.EventQueryView.as_view(), name="events-query"),
    path("status", events.TimelineStatusView.as_view(), name="timeline-status"),
    path("segments", events.SegmentsView.as_view(), name="segments"),
]
