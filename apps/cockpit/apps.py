from django.apps import AppConfig


class CockpitConfig(AppConfig):
    name = "apps.cockpit"
    label = "cockpit"
    verbose_name = "Cockpit"
