"""Addresses of models, and of the tools for them."""

from django.urls import path

from apps.llm.rest import views

urlpatterns = [
    path("status", views.ModelsStatusView.as_view(), name="llm-status"),
    path("models", views.ModelsView.as_view(), name="llm-models"),
    path("tools", views.ToolsView.as_view(), name="llm-tools"),
    path("tools/parse", views.ParseView.as_view(), name="llm-tools-parse"),
    path("tools/execute", views.ExecuteView.as_view(), name="llm-tools-execute"),
]
