"""No page of operators shows codes and tokens of apps: they see their keys."""

from django.apps import apps
from django.contrib import admin

for model in apps.get_app_config("oauth2_provider").get_models():
    if admin.site.is_registered(model):
        admin.site.unregister(model)
