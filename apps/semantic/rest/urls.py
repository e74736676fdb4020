"""Addresses of semantic memory."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
