"""What an entry of the audit keeps of a changed object."""

from apps.audit.domain.changes import HIDDEN, MAX_VALUE_CHARS, changed_fields


def test_long_values_are_cut_and_say_so() -> None:
    most = "x" * MAX_VALUE_CHARS
    assert changed_fields({"name": "a"}, {"name": most}) == {"name": ["a", most]}
    assert changed_fields({"name": "a"}, {"name": f"{most}y"}) == {"name": ["a", f"{most}… (501 characters)"]}


def test_secrets_are_never_kept() -> None:
    assert changed_fields({"webhook_secret": "a"}, {"webhook_secret": "b"}) == {"webhook_secret": [HIDDEN, HIDDEN]}


def test_documents_are_compared_inside() -> None:
    before, after = {"weights": {"time": 1, "source": 2}}, {"weights": {"time": 3, "source": 2}}
    assert changed_fields(before, after) == {"weights.time": [1, 3]}
