"""Words of rules that are made in English elsewhere: refusals, and what the schema of documents says of settings."""

from django.utils.translation import gettext_noop as _

from apps.core.pages.sayings import SAYINGS
from apps.rules.domain.documents.json_schema import IDENTITY, setting_label, setting_schemas

# Of the services and of the check of documents.
REFUSALS = (
    _("This rule is built in: it can be edited, but not deleted."),
    _("There is no such change."),
    _("A rule keeps its name."),
    _("A rule is a JSON object."),
    _("There is a rule %(name)s already."),
    _("There is no rule %(base)s, which %(rule)s extends."),
    _("The rules extend each other in a circle: %(circle)s."),
)


def setting_words() -> set[str]:
    """Return names, explanations and choices of settings, as the schema of documents has them, and their sections."""
    schemas = setting_schemas()
    choices = {choice.capitalize() for schema in schemas.values() for choice in schema.get("enum", ()) if choice}
    sections = {path.partition(".")[0].capitalize() for path in schemas if "." in path}
    shown = {setting_label(path) for path in schemas if path not in IDENTITY}
    return {schema["description"] for schema in schemas.values()} | choices | sections | shown


SAYINGS.add((*REFUSALS,), setting_words())
