"""Addresses of models, and of the tools for them."""

from django.urls import path

from apps.llm.rest import models, tools

urlpatterns = [
    path("status", models.ModelsStatusView.as_view(), name="llm-status"),
    path("models", models.ModelsView.as_view(), name="llm-models"),
    path("tools", tools.ToolsView.as_view(), name="llm-tools"),
    path("tools/parse", tools.ParseView.as_view(), name="llm-tools-parse"),
    path("tools/execute", tools.ExecuteView.as_view(), name="llm-tools-execute"),
]
