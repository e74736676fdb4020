from django.apps import AppConfig


class WebUiConfig(AppConfig):
    name = "apps.webui"
    label = "webui"
    verbose_name = "Web UI"
