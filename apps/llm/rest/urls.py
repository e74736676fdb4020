"""Addresses of models, and of the tools for them."""

from django.urls import path

from apps.llm.rest import models_views, status_views, views

urlpatterns = [
    path("status", status_views.StatusView.as_view(), name="llm-status"),
    path("models", models_views.ModelsView.as_view(), name="llm-models"),
    path("tools", models_views.ToolsView.as_view(), name="llm-tools"),
    path("tools/parse", views.ParseView.as_view(), name="llm-tools-parse"),
    path("tools/execute", views.ExecuteView.as_view(), name="llm-tools-execute"),
]
