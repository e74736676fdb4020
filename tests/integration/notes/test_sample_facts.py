"""The command that prints what patterns find in conversations."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

CONVERSATION = {
    "sample_id": "c-1",
    "qa": [],
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 4 March, 2026",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "Hi Ben! I live in Oslo now."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Great! I fly to Oslo next Friday."},
            {"speaker": "Ana", "dia_id": "D1:3", "text": "Where will you stay?"},
        ],
    },
}


def sample(path: Path, *options: str) -> str:
    written = io.StringIO()
    call_command("sample_facts", f"--texts={path}", *options, stdout=written)
    return written.getvalue()


def test_each_speaker_is_the_user_in_turn(tmp_path):
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([CONVERSATION]), encoding="utf-8")
    printed = sample(path, "--seed=1")
    assert printed.startswith("3 turns, 2 facts")
    assert "[About, home] I live in Oslo now.\n   Ana: Hi Ben!" in printed
    assert "[Plans, dated-plan] I fly to Oslo next Friday (2026-03-13).\n   Ben: Great!" in printed
    assert printed.split("\n")[2:] == sample(path, "--seed=1").split("\n")[2:]
    assert sample(path, "--count=0").count("\n") == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1]", '[{"conversation": 5}]'])
def test_a_file_of_another_kind_is_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError):
        sample(path)
    with pytest.raises(CommandError):
        sample(tmp_path / "missing.json")
