"""Addresses of the timeline."""

from django.urls import path

from apps.episodic.rest import query_views, views

urlpatterns = [
    path("events", views.EventsView.as_view(), name="events"),
    path("events/batch", views.EventBatchView.as_view(), name="events-batch"),
    path("query", query_views.EventQueryView.as_view(), name="events-query"),
    path("status", views.StatusView.as_view(), name="timeline-status"),
    path("segments", views.SegmentsView.as_view(), name="segments"),
]
