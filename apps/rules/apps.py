from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RulesConfig(AppConfig):
    name = "apps.rules"
    label = "rules"
    verbose_name = _("Conflict rules")

    def ready(self) -> None:
        from apps.rules.pair_judge import use_pair_judge

        use_pair_judge()

    def words(self) -> set[str]:
        """Return what the catalogs need besides what the sources mark: the words of settings."""
        from apps.rules.sayings import setting_words

        return setting_words()
