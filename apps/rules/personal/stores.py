"""The store of rules: in exports of everything, in imports into an empty hub, and forgotten with their user."""

from collections.abc import Iterator, Sequence
from uuid import uuid4

from django.db.models import Q, QuerySet

from apps.core.domain.errors import MemoryHubError
from apps.core.personal.columns import Columns, read_integer
from apps.core.personal.erase import delete_in_parts
from apps.core.personal.registry import register_stores
from apps.core.personal.settings_table import rows_of
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.core.steps import Step, no_step
from apps.rules.models import MergeRule, MergeRuleVersion, RegistryVersion
from apps.rules.services import rule_delete

REGISTRY, CHANGE = "rules", "rule_version"
ACTOR = "erasure"


class RuleStore(PersonalStore):
    """Rules and their history: their conditions may name a user.

    The registry is exported as one line, then its changes.
    """

    name = "rules"
    order = 5
    models = (MergeRule, MergeRuleVersion)
    kinds = (REGISTRY, CHANGE)
    is_settings = True

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield rules by name, and changes in their order, if the hub as a whole is exported."""
        if not asked.is_everything:
            return
        rules, changes = Columns(MergeRule), Columns(MergeRuleVersion)
        version = RegistryVersion.objects.filter(pk=1).values_list("version", flat=True).first() or 0
        rows = [rules.values(row) for row in MergeRule.objects.order_by("name")]
        yield {"kind": REGISTRY, "version": version, "rows": rows}
        for row in MergeRuleVersion.objects.order_by("version").iterator(500):
            yield {"kind": CHANGE, **changes.values(row)}

    def load(self, lines: Sequence[Line]) -> int:
        """Replace the rules by those of the last line, or write the changes that are not there."""
        if lines[0]["kind"] == REGISTRY:
            rows = rows_of(lines, Columns(MergeRule))
            try:
                version = read_integer(lines[-1].get("version"))
            except ValueError as error:
                raise LineError(len(lines) - 1, "version is invalid") from error
            # Every process reads them again, as after any change.
            RegistryVersion.objects.get_or_create(pk=1)
            RegistryVersion.objects.select_for_update().get(pk=1)
            MergeRule.objects.all().delete()
            MergeRule.objects.bulk_create([MergeRule(**row) for row in rows])
            RegistryVersion.objects.filter(pk=1).update(version=version, stamp=uuid4())
            return len(lines)
        columns, changes = Columns(MergeRuleVersion), []
        known = set(MergeRuleVersion.objects.values_list("version", flat=True))
        for place, line in enumerate(lines):
            row = MergeRuleVersion(**columns.read_at(place, line))
            if row.version not in known:
                changes.append(row)
        return len(MergeRuleVersion.objects.bulk_create(changes))

    def count(self, user_id: str) -> int:
        return rules_for(user_id).count() + changes_for(user_id).count()

    def obstacles(self, user_id: str, *, full: bool) -> Iterator[str]:
        own = set(rules_for(user_id).values_list("name", flat=True))
        for heir in MergeRule.objects.exclude(name__in=own):
            if heir.document.get("extends") in own:
                yield f"the rule {heir.document['extends']} is for this user only, and {heir.name} extends it"

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        # Those that extend another one of theirs go first, whatever the order of their names.
        names = list(rules_for(user_id).values_list("name", flat=True))
        while names:
            left = [name for name in names if not is_deleted(name)]
            if left == names:
                break
            yield len(names) - len(left)
            names = left
        yield from delete_in_parts(changes_for(user_id))

    def find(self, user_id: str) -> Iterator[str]:
        if rules_for(user_id).exists():
            yield "rules_mergerule"
        if changes_for(user_id).exists():
            yield "rules_mergeruleversion"


def is_deleted(name: str) -> bool:
    """Delete a rule; return False where another one still extends it."""
    try:
        rule_delete(name=name, actor=ACTOR)
    except MemoryHubError:
        return False
    return True


def rules_for(user_id: str) -> QuerySet[MergeRule]:
    """Return the rules whose conditions name a user."""
    return MergeRule.objects.filter(document__conditions__user_id=user_id)


def changes_for(user_id: str) -> QuerySet[MergeRuleVersion]:
    """Return the changes of rules that had such a condition before or after."""
    before, after = Q(before__conditions__user_id=user_id), Q(after__conditions__user_id=user_id)
    return MergeRuleVersion.objects.filter(before | after)


register_stores((RuleStore(),))
