from django.apps import AppConfig


class SemanticConfig(AppConfig):
    name = "apps.semantic"
    label = "semantic"
    verbose_name = "Semantic memory"
