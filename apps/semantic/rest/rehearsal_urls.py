"""The address of a rehearsal: among those of the rules, though it takes memories and receipts to answer."""

from django.urls import path

from apps.semantic.rest import rehearsal

urlpatterns = [path("rules/<str:name>/rehearse", rehearsal.RehearseView.as_view(), name="rule-rehearse")]
