"""Addresses of models, and of the tools for them."""

from django.urls import path

from apps.llm.rest import models, status, tools

urlpatterns = [
    path("status", status.ModelsStatusView.as_view(), name="llm-status"),
    path("models", models.ModelsView.as_view(), name="llm-models"),
    path("tools", models.ToolsView.as_view(), name="llm-tools"),
    path("tools/parse", tools.ParseView.as_view(), name="llm-tools-parse"),
    path("tools/execute", tools.ExecuteView.as_view(), name="llm-tools-execute"),
]
