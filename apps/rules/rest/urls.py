"""Addresses of merge rules."""

from django.urls import path

from apps.rules.rest import views

urlpatterns = [
    path("rules", views.RulesView.as_view(), name="rules"),
    path("rules/export", views.ExportView.as_view(), name="rules-export"),
    path("rules/load", views.LoadView.as_view(), name="rules-load"),
    path("rules/match", views.MatchView.as_view(), name="rules-match"),
    path("rules/evaluate", views.EvaluateView.as_view(), name="rules-evaluate"),
    path("rules/<str:name>", views.OneRuleView.as_view(), name="rule"),
]
