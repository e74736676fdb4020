"""The address of a rehearsal: among those of the rules, though it takes memories and receipts to answer."""

from django.urls import path

from apps.semantic.rest import rehearse_views

urlpatterns = [path("rules/<str:name>/rehearse", rehearse_views.RehearseView.as_view(), name="rule-rehearse")]
