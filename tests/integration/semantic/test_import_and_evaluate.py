"""Importing and evaluating as an operator does: docs/guides/import-and-evaluate.md."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from apps.core.domain.scope import Scope
from apps.core.per_process import PerProcess
from apps.llm.embedding import embedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.minilm.preparation import prepare
from apps.llm.embedding.minilm.source import Precision
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.imports.importer import BadLine, PlacedDraft, in_batches
from apps.semantic.models import Memory
from apps.semantic.store.embedding_space import forget_space

# Importing prepares in a thread of its own, with its own connection.
pytestmark = pytest.mark.django_db(transaction=True)

CONVERSATION = Path(__file__).parents[2] / "fixtures" / "conversation.json"
LOCOMO = Path(__file__).resolve().parents[4] / "shared" / "data" / "locomo_dev.json"


def run(command: str, *arguments: Any) -> str:
    out = StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def write_lines(path: Path, *lines: Any) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def minilm(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The embedder that people use, instead of the one of the tests."""
    models = settings.MODELS_DIR
    models.mkdir(parents=True, exist_ok=True)
    prepare(models, Precision.INT8)
    monkeypatch.setattr(embedder, "_embedder", PerProcess(lambda: MiniLMEmbedder(models, Precision.INT8, 1)))
    forget_space()
    yield
    forget_space()


def test_each_turn_of_conversation_becomes_memory_with_its_session_and_time() -> None:
    assert run("import_memories", CONVERSATION) == "7 inserted, 0 updated, 0 skipped, 0 failed\n"
    memory = Memory.objects.get(metadata__dia_id="D1:3")
    assert memory.content.startswith("Ines: I adopted an old greyhound")
    assert "a photo of a grey dog" in memory.content
    assert (memory.user_id, memory.session_id, memory.source) == ("talk-1", "session_1", "conversation")
    assert memory.occurred_at is not None
    assert memory.occurred_at.isoformat() == "2024-03-03T09:05:02+00:00"


def test_importing_the_same_again_changes_nothing() -> None:
    run("import_memories", CONVERSATION)
    before = list(Memory.objects.order_by("id").values())
    assert run("import_memories", CONVERSATION) == "0 inserted, 0 updated, 7 skipped, 0 failed\n"
    assert list(Memory.objects.order_by("id").values()) == before


def test_repeating_import_of_rising_confidences_only_brings_confidence_nearer(tmp_path: Path) -> None:
    lines = [{"user_id": "ana", "content": "tea", "confidence": claim} for claim in (0.3, 0.9)]
    path = write_lines(tmp_path / "memories.jsonl", *lines)
    assert run("import_memories", path) == "1 inserted, 1 updated, 0 skipped, 0 failed\n"
    confidences = [Memory.objects.get().base_confidence]
    for _ in range(3):
        assert run("import_memories", path) == "0 inserted, 1 updated, 1 skipped, 0 failed\n"
        confidences.append(Memory.objects.get().base_confidence)
    assert confidences == sorted(set(confidences))
    assert 0.3 < confidences[0] < confidences[-1] < 0.9


def test_repeating_import_of_falling_confidences_changes_nothing(tmp_path: Path) -> None:
    lines = [{"user_id": "ana", "content": "tea", "confidence": claim} for claim in (0.9, 0.3)]
    path = write_lines(tmp_path / "memories.jsonl", *lines)
    assert run("import_memories", path) == "1 inserted, 0 updated, 1 skipped, 0 failed\n"
    before = list(Memory.objects.values())
    assert run("import_memories", path) == "0 inserted, 0 updated, 2 skipped, 0 failed\n"
    assert list(Memory.objects.values()) == before


def test_import_that_was_cut_off_is_resumed_by_repeating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from apps.semantic.imports import importer

    written = importer.save_write
    calls: list[int] = []

    def cut_off_at_the_second(**arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return written(**arguments)

    monkeypatch.setattr(importer, "save_write", cut_off_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        run("import_memories", CONVERSATION, "--batch-size=3")
    assert Memory.objects.count() == 3
    monkeypatch.undo()
    assert run("import_memories", CONVERSATION, "--batch-size=3") == "4 inserted, 0 updated, 3 skipped, 0 failed\n"


def test_the_user_prefix_keeps_imports_apart() -> None:
    run("import_memories", CONVERSATION, "--user-prefix=test-")
    assert set(Memory.objects.values_list("user_id", flat=True)) == {"test-talk-1"}


def test_json_lines_take_every_field_of_the_api(tmp_path: Path) -> None:
    line = {
        "user_id": "ana",
        "content": "tea",
        "project": "x",
        "occurred_at": "2024-03-03T09:05:00+01:00",
        "global": True,
    }
    assert "1 inserted" in run("import_memories", write_lines(tmp_path / "memories.jsonl", line, ""))
    memory = Memory.objects.get()
    assert (memory.project, memory.is_global) == ("x", True)


def test_bad_lines_are_named_and_stop_no_other(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "memories.jsonl",
        {"user_id": "ana", "content": "tea"},
        "{broken",
        {"user_id": "ana", "content": ""},
        {"user_id": "ana", "content": "milk", "colour": "white"},
        {"content": "nobody's"},
        {"user_id": "ana", "content": "coffee"},
    )
    err = StringIO()
    with pytest.raises(CommandError, match="4 of 6"):
        call_command("import_memories", str(path), stdout=StringIO(), stderr=err)
    assert Memory.objects.count() == 2
    said = err.getvalue()
    assert "line 2: not a JSON object" in said
    assert "line 3: content: " in said
    assert "line 4: colour: " in said


def errors_of_importing(path: Path, *arguments: Any) -> list[str]:
    err = StringIO()
    with pytest.raises(CommandError):
        call_command("import_memories", str(path), *arguments, stdout=StringIO(), stderr=err)
    return [line for line in err.getvalue().splitlines() if not line.startswith("Importing: ")]


def test_memory_that_cannot_be_saved_is_named_by_its_line(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "memories.jsonl",
        {"user_id": "ana", "content": "tea"},
        {"content": "nobody's"},
        "",
        {"user_id": "ana", "content": "milk", "embedding": [1.0, 2.0]},
    )
    nobodys, milk = errors_of_importing(path)
    assert nobodys.startswith("line 2: user_id: ")
    assert milk.startswith("line 4: embedding: Expected 384 numbers")
    assert list(Memory.objects.values_list("content", flat=True)) == ["tea"]


def test_only_the_first_twenty_failures_are_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "memories.jsonl", *[{"content": f"nobody's {n}"} for n in range(25)])
    assert [said.split(":")[0] for said in errors_of_importing(path)] == [f"line {n}" for n in range(1, 21)]


# Ends of lines to Python's splitlines(), yet allowed in a JSON string as they are.
@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"], ids=["U+2028", "U+2029", "U+0085"])
def test_only_a_line_feed_ends_a_line(mark: str, tmp_path: Path) -> None:
    lines = [json.dumps({"user_id": "ana", "content": f"tea{mark}{n}"}, ensure_ascii=False) for n in (1, 2)]
    path = write_lines(tmp_path / "memories.jsonl", "\r\n".join(lines))
    assert run("import_memories", path) == "2 inserted, 0 updated, 0 skipped, 0 failed\n"
    assert set(Memory.objects.values_list("content", flat=True)) == {f"tea{mark}1", f"tea{mark}2"}


def test_byte_order_mark_does_not_cost_first_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "memories.jsonl", "\ufeff" + json.dumps({"user_id": "ana", "content": "tea"}))
    assert "1 inserted" in run("import_memories", path)
    assert "7 inserted" in run("import_memories", write_lines(tmp_path / "l.json", "\ufeff" + CONVERSATION.read_text()))


def test_a_bad_turn_is_named_and_stops_no_other(tmp_path: Path) -> None:
    samples = json.loads(CONVERSATION.read_text("utf-8"))
    samples[0]["conversation"]["session_1"][0]["text"] = "Guess\x00 what"
    path = write_lines(tmp_path / "talk.json", json.dumps(samples))
    assert errors_of_importing(path) == ["sample talk-1 D1:1: content: Null characters are not allowed."]
    assert Memory.objects.count() == 6


@pytest.mark.parametrize("command", ["import_memories", "evaluate"])
def test_file_that_is_not_there_is_said_in_sentence(command: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"missing\.jsonl"):
        run(command, tmp_path / "missing.jsonl")


def test_conversation_without_readable_date_is_refused(tmp_path: Path) -> None:
    text = CONVERSATION.read_text("utf-8").replace("9:05 am on 3 March, 2024", "early in March")
    path = write_lines(tmp_path / "talk.json", text)
    with pytest.raises(CommandError, match="session_1_date_time"):
        run("import_memories", path)
    assert Memory.objects.count() == 0


def test_an_evaluation_needs_the_memories_first() -> None:
    with pytest.raises(CommandError, match="import_memories"):
        run("evaluate", CONVERSATION)


def test_evaluation_finds_evidence_and_says_how_much(tmp_path: Path) -> None:
    run("import_memories", CONVERSATION)
    figures = json.loads(run("evaluate", CONVERSATION, "--json", f"--output={tmp_path / 'figures.json'}"))
    assert figures == json.loads((tmp_path / "figures.json").read_text())
    assert figures["overall"]["questions"] == 3
    assert figures["overall"]["recall@10"] == figures["overall"]["complete@10"] == 1.0
    assert 0 < figures["overall"]["mrr"] <= 1.0
    assert set(figures["by_category"]) == {"1", "4"}
    assert figures["evidence_without_memory"] == figures["questions_without_evidence"] == 1
    assert figures["latency_ms"]["p95"] >= figures["latency_ms"]["p50"] > 0


def test_the_evaluation_prints_a_table() -> None:
    run("import_memories", CONVERSATION)
    table = run("evaluate", CONVERSATION)
    assert "@10" in table
    assert "Latency" in table


def test_questions_of_ones_own_come_as_json_lines(tmp_path: Path) -> None:
    run("import_memories", CONVERSATION)
    question = {"user_id": "talk-1", "question": "a cello?", "evidence": ["D1:4"], "category": "music"}
    path = write_lines(tmp_path / "questions.jsonl", question)
    figures = json.loads(run("evaluate", path, "--json", "--mode=keyword"))
    assert figures["by_category"]["music"]["mrr"] == 1.0


def test_question_may_hold_any_character_that_json_allows(tmp_path: Path) -> None:
    run("import_memories", CONVERSATION)
    question = {"user_id": "talk-1", "question": "a\u2028cello\x85?", "evidence": ["D1:4"], "category": 3}
    text = "\ufeff" + json.dumps(question, ensure_ascii=False) + "\r"
    figures = json.loads(run("evaluate", write_lines(tmp_path / "questions.jsonl", text), "--json"))
    assert figures["by_category"]["3"]["questions"] == 1


def test_a_malformed_question_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="line 1"):
        run("evaluate", write_lines(tmp_path / "questions.jsonl", {"question": "Who?"}))


@pytest.mark.skipif(
    not LOCOMO.exists(), reason=f"the LoCoMo conversations are not at {LOCOMO.parent.name}/{LOCOMO.name}"
)
def test_evidence_of_real_long_conversation_is_in_top_ten(minilm: None, tmp_path: Path) -> None:
    sample = json.loads(LOCOMO.read_text("utf-8"))[:1]
    path = write_lines(tmp_path / "locomo.json", json.dumps(sample))
    run("import_memories", path)
    figures = json.loads(run("evaluate", path, "--json"))
    assert figures["overall"]["questions"] > 190
    assert figures["overall"]["recall@10"] >= 0.80


def test_batches_of_long_texts_are_smaller():
    drafts = [PlacedDraft(str(n), MemoryDraft("x" * 16_000, scope=Scope("ana"))) for n in range(9)]
    short = [BadLine("line 1", "no text")] * 5
    assert [len(batch) for batch in in_batches([*drafts, *short], 500)] == [4, 4, 6]
    assert [len(batch) for batch in in_batches(short, 2)] == [2, 2, 1]
