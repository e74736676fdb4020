"""Addresses of the tools for models."""

from django.urls import path

from apps.llm.rest import views

urlpatterns = [
    path("tools/parse", views.ParseView.as_view(), name="llm-tools-parse"),
    path("tools/execute", views.ExecuteView.as_view(), name="llm-tools-execute"),
]
