"""The reference of knowledge files says what readers do."""

import re
from pathlib import Path

from apps.sync.domain.knowledge import ItemStatus, ItemType, Layer, Severity
from apps.sync.domain.readers.fields import NAMES
from apps.sync.domain.readers.found import Refusal
from apps.sync.domain.readers.places import LAYER_BY_WORD, TYPE_BY_WORD
from apps.sync.domain.readers.rules import severity_of
from apps.sync.domain.readers.statuses import status_of
from apps.sync.domain.readers.text import MAX_FRONT_MATTER_CHARS, SUMMARY_CHARS, WRITTEN_SUMMARY_CHARS, fold
from tests.unit.sync.readers import parsed

PAGE = (Path(__file__).parents[3] / "docs/reference/knowledge-files.md").read_text(encoding="utf-8")


def documented(words) -> list[tuple[str, list[str]]]:
    """Return the rows of the table that has these names in its first column, with the words of the second one."""
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|$", PAGE, re.MULTILINE)
    found = [
        (name, re.split(r"[,;] ", text.split(" | ")[0].removesuffix(" ...").replace("*", ""))) for name, text in rows
    ]
    return [(name, texts) for name, texts in found if name in set(words)]


def test_documented_statuses():
    rows = documented(ItemStatus)
    assert {name for name, _ in rows} == set(ItemStatus)
    wrong = [(word, name) for name, words in rows for word in words if status_of(word) != name]
    assert wrong == []


def test_documented_types_layers_and_severities():
    for names, table in ((ItemType, TYPE_BY_WORD.get), (Layer, LAYER_BY_WORD.get), (Severity, severity_of)):
        rows = documented(names)
        assert {name for name, _ in rows} == set(names)
        assert [(word, name) for name, words in rows for word in words if table(fold(word)) != name] == []


def test_documented_fields():
    rows = documented(NAMES)
    assert {name for name, _ in rows} == set(NAMES)
    wrong = [word for name, words in rows for word in words if fold(word.strip("`")) not in NAMES[name].split()]
    assert wrong == []


def test_documented_refusals_and_limits():
    assert {f"`{code}`" for code in Refusal} <= set(re.findall(r"^\| (`\w+`) \|", PAGE, re.MULTILINE))
    assert all(
        f"{number:,} characters" in PAGE for number in (MAX_FRONT_MATTER_CHARS, SUMMARY_CHARS, WRITTEN_SUMMARY_CHARS)
    )


def test_documented_examples():
    texts = re.findall(r"^```\w*\n((?:---|# 12|PEP).*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    policy, decision, madr, proposal = (
        parsed(path, text)
        for path, text in zip(
            ("policies/tls.md", "adr/0012-use-queues.md", "adr/0003-x.md", "x.rst"), texts, strict=True
        )
    )
    assert (policy.item_id, policy.type, policy.status) == ("policies/tls", ItemType.POLICY, ItemStatus.ACCEPTED)
    assert (decision.item_id, decision.superseded_by) == ("ADR-0012", ("adr/0013-use-logs.md",))
    assert (madr.status, madr.superseded_by) == (ItemStatus.SUPERSEDED, ("adr/0005-logs.md",))
    assert (proposal.item_id, proposal.superseded_by) == ("PEP-8123", ("PEP-8200",))
