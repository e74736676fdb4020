"""Rules and their history in exports of everything, and in imports into an empty hub."""

from collections.abc import Iterator, Sequence
from uuid import uuid4

from apps.core.personal.columns import Columns, read_integer
from apps.core.personal.settings_table import rows_of
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.rules.models import MergeRule, MergeRuleVersion, RegistryVersion

REGISTRY, CHANGE = "rules", "rule_version"


class RuleTransfer(PersonalStore):
    """Exports the registry as one line, then its changes."""

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
            return load_registry(lines)
        columns, rows = Columns(MergeRuleVersion), []
        known = set(MergeRuleVersion.objects.values_list("version", flat=True))
        for place, line in enumerate(lines):
            try:
                row = MergeRuleVersion(**columns.read(line))
            except ValueError as error:
                raise LineError(place, str(error)) from error
            if row.version not in known:
                rows.append(row)
        return len(MergeRuleVersion.objects.bulk_create(rows))


def load_registry(lines: Sequence[Line]) -> int:
    """Replace the rules. Every process reads them again, as after any change."""
    rows = rows_of(lines, Columns(MergeRule))
    try:
        version = read_integer(lines[-1].get("version"))
    except ValueError as error:
        raise LineError(len(lines) - 1, "version is invalid") from error
    RegistryVersion.objects.get_or_create(pk=1)
    RegistryVersion.objects.select_for_update().get(pk=1)
    MergeRule.objects.all().delete()
    MergeRule.objects.bulk_create([MergeRule(**row) for row in rows])
    RegistryVersion.objects.filter(pk=1).update(version=version, stamp=uuid4())
    return len(lines)
