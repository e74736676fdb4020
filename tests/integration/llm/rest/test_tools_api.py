"""Tools over REST: spec 000 "ABP Protocol Implementation" and "Dual Protocol Compatibility", DESIGN D1, section 5."""

from typing import Any

import pytest
from prometheus_client import REGISTRY

from apps.core.domain.scope import Permission, Scope
from apps.llm.tools.requests import tool_registry
from apps.semantic.models import Memory
from tests.api import Api, api_for, error_attrs
from tests.hostile.support import assert_refused, stored
from tests.hostile.world import ASKED_BY_A_MODEL
from tests.unit.llm.protocol.outputs import END, SAVE, SEARCH, VCP, abp, vcp

pytestmark = pytest.mark.django_db

PARSE = "/api/llm/tools/parse"
EXECUTE = "/api/llm/tools/execute"
TEA = '{"content": "Ana likes tea."}'
BROKEN = f"{SAVE} what?{END}"


@pytest.fixture
def ana() -> Api:
    return api_for(Scope(user_id="ana"))


def parsed(api: Api, text: str, **fields: Any) -> dict[str, Any]:
    response = api.post(PARSE, {"text": text, **fields})
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def executed(api: Api, text: str, **fields: Any) -> dict[str, Any]:
    response = api.post(EXECUTE, {"text": text, **fields})
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def the_result(api: Api, text: str) -> dict[str, Any]:
    [result] = executed(api, text)["results"]
    return dict(result)


# --- spec 000, scenario "ABP tool request parsing" ----------------------------------------------------------------


def test_abp_parsing_returns_name_and_parameters(ana: Api) -> None:
    block = f"{SAVE}{TEA}{END}"
    assert parsed(ana, f"I note that.\n{block}") == {
        "protocol": "abp",
        "mode": "dual",
        "fallback": None,
        "requests": [
            {
                "protocol": "abp",
                "name": "memory_save",
                "parameters": {"content": "Ana likes tea."},
                "fixes": [],
                "truncated": [],
                "span": [13, 13 + len(block)],
            }
        ],
        "refused": [],
        "refused_count": 0,
        "text": "I note that.",
    }


def test_abp_tool_request_parsing_runs_nothing(ana: Api) -> None:
    before = stored()
    parsed(ana, SAVE + TEA)
    assert stored() == before


def test_abp_tool_request_parsing_executes_tool(ana: Api) -> None:
    answer = executed(ana, f"I note that.\n{SAVE}{TEA}")
    [result] = answer["results"]
    assert (answer["protocol"], answer["text"]) == ("abp", "I note that.")
    assert (result["name"], result["outcome"], result["problems"]) == ("memory_save", "done", [])
    assert result["value"]["memory"]["id"] == str(Memory.objects.get(user_id="ana", content="Ana likes tea.").uuid)


def test_what_was_saved_by_tool_is_found_by_tool(ana: Api) -> None:
    executed(ana, SAVE + TEA)
    result = the_result(ana, SEARCH + '{"query": "tea"}')
    assert [item["memory"]["content"] for item in result["value"]["results"]] == ["Ana likes tea."]


def test_abp_tool_request_parsing_validates_structure_of_request(ana: Api) -> None:
    answer = parsed(ana, f"[[ABP_TOOL:7!]]{TEA}{END}")
    [refused] = answer["refused"]
    assert (answer["requests"], refused["code"], refused["name"]) == ([], "bad_name", None)
    assert "1 to 64 letters" in refused["detail"]


# --- scenario "ABP protocol error recovery" -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fixes"),
    [
        (f'{SAVE}{{"content": "Ana likes tea."', ["json"]),
        (f"{SAVE}the parameters are {TEA} as you see{END}", ["noise"]),
        (f"[[ abp_tool: memory_save ]]{TEA}{END}", ["marker"]),
        (f'{SAVE}{{"content": "No."}} {TEA}{END}', ["several_objects"]),
        (f"Well, let me see.\n\n{SAVE}{TEA}{END}\n\nSo that is done.", []),
    ],
    ids=["repaired JSON", "noise", "boundaries", "several objects", "cluttered output"],
)
def test_abp_protocol_error_recovery_saves_what_was_meant(ana: Api, text: str, fixes: list[str]) -> None:
    answer = executed(ana, text)
    assert [request["fixes"] for request in answer["requests"]] == [fixes]
    assert [memory.content for memory in Memory.objects.all()] == ["Ana likes tea."]


CUT = '{"content": "Ana is allergic to pea'


@pytest.mark.parametrize("text", [f"{SAVE}{CUT}", f"{SAVE}{CUT}{END}"], ids=["at the end", "before the end marker"])
def test_sentence_that_was_cut_is_not_stored_as_a_fact(ana: Api, text: str) -> None:
    before = stored()
    answer = executed(ana, text)
    assert [request["truncated"] for request in answer["requests"]] == [["content"]]
    [result] = answer["results"]
    assert (result["outcome"], result["value"]) == ("invalid_parameters", None)
    assert [(problem["code"], problem["attr"]) for problem in result["problems"]] == [("truncated", "content")]
    assert stored() == before


def test_search_for_words_that_were_cut_is_made(ana: Api) -> None:
    executed(ana, SAVE + TEA)
    result = the_result(ana, f'{SEARCH}{{"query": "Ana likes te')
    assert (result["outcome"], result["value"]["count"]) == ("done", 1)


def test_abp_protocol_error_recovery_takes_last_valid_block(ana: Api) -> None:
    answer = executed(ana, abp("memory_save", '{"content": "one"}') + abp("memory_save", TEA) + BROKEN)
    assert [memory.content for memory in Memory.objects.all()] == ["Ana likes tea."]
    assert [(block["name"], block["code"]) for block in answer["refused"]] == [
        ("memory_save", "superseded"),
        ("memory_save", "no_parameters"),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [(f"```\n{SAVE}{TEA}\n```", "in_code"), (f"> {SAVE}{TEA}", "in_quote"), (f'{{"note": "{SAVE}"}}', "in_json")],
)
def test_block_that_is_only_shown_is_not_executed(ana: Api, text: str, code: str) -> None:
    answer = executed(ana, text)
    assert (answer["protocol"], answer["results"], answer["text"]) == ("text", [], text)
    assert answer["refused"][0]["code"] == code
    assert not Memory.objects.exists()


# --- scenario "ABP protocol fallback" -----------------------------------------------------------------------------


def test_abp_protocol_fallback_is_vcp_in_dual_mode(ana: Api) -> None:
    answer = executed(ana, BROKEN + vcp("memory_save", content="Ana likes tea."))
    assert (answer["protocol"], answer["fallback"], answer["results"][0]["outcome"]) == ("vcp", "vcp", "done")
    assert Memory.objects.get().content == "Ana likes tea."


@pytest.mark.parametrize("mode", ["dual", "abp"])
def test_abp_protocol_fallback_is_plain_text_where_nothing_else_is_there(ana: Api, mode: str) -> None:
    answer = executed(ana, f"Here:\n{BROKEN}", mode=mode)
    assert (answer["protocol"], answer["fallback"], answer["results"]) == ("text", "text", [])
    assert answer["text"] == f"Here:\n{BROKEN}"


@pytest.mark.parametrize("text", ["", " \n", "Nothing to do."])
def test_an_output_without_a_request_is_text(ana: Api, text: str) -> None:
    answer = parsed(ana, text)
    assert (answer["protocol"], answer["fallback"], answer["requests"], answer["text"]) == ("text", None, [], text)


# --- scenario "Dual protocol mode" --------------------------------------------------------------------------------

BOTH = vcp("memory_save", content="by VCP") + "\n" + abp("memory_save", '{"content": "by ABP"}')


@pytest.mark.parametrize(
    ("fields", "protocol"), [({}, "abp"), ({"mode": "dual"}, "abp"), ({"mode": "abp"}, "abp"), ({"mode": "vcp"}, "vcp")]
)
def test_dual_protocol_mode_tries_abp_first(ana: Api, fields: dict[str, str], protocol: str) -> None:
    answer = executed(ana, BOTH, **fields)
    assert answer["protocol"] == protocol
    assert Memory.objects.get().content == f"by {protocol.upper()}"


COUNTED = [
    ("memoryhub_tool_outputs_total", {"protocol": "abp"}, abp("memory_search", "{}"), 1),
    ("memoryhub_tool_outputs_total", {"protocol": "vcp"}, vcp("memory_search"), 1),
    ("memoryhub_tool_outputs_total", {"protocol": "text"}, "Hello.", 1),
    ("memoryhub_tool_fallbacks_total", {"to": "vcp"}, BROKEN + vcp("memory_search"), 1),
    ("memoryhub_tool_fallbacks_total", {"to": "text"}, BROKEN, 1),
    ("memoryhub_tool_abp_failures_total", {}, BROKEN, 1),
    ("memoryhub_tool_abp_failures_total", {}, BROKEN + abp("memory_search", "{}"), 0),
    ("memoryhub_tool_fixed_total", {}, SEARCH + "{", 1),
    ("memoryhub_tool_refused_total", {"code": "no_parameters"}, BROKEN + BROKEN, 2),
    ("memoryhub_tool_refused_total", {"code": "in_code"}, f"`{SAVE}{TEA}{END}`", 1),
]


@pytest.mark.parametrize(("metric", "labels", "text", "more"), COUNTED)
def test_dual_protocol_mode_tracks_statistics(
    ana: Api, metric: str, labels: dict[str, str], text: str, more: int
) -> None:
    before = REGISTRY.get_sample_value(metric, labels) or 0
    parsed(ana, text)
    assert (REGISTRY.get_sample_value(metric, labels) or 0) - before == more


@pytest.mark.parametrize(
    ("name", "label", "outcome"),
    [("memory_search", "memory_search", "invalid_parameters"), ("made_up_by_a_model", "unknown", "unknown_tool")],
)
def test_runs_are_counted_by_tools_that_there_are(ana: Api, name: str, label: str, outcome: str) -> None:
    labels = {"tool": label, "outcome": outcome}
    before = REGISTRY.get_sample_value("memoryhub_tool_runs_total", labels) or 0
    assert the_result(ana, abp(name, "{}"))["outcome"] == outcome
    assert REGISTRY.get_sample_value("memoryhub_tool_runs_total", labels) == before + 1
    assert REGISTRY.get_sample_value("memoryhub_tool_runs_total", {**labels, "tool": "made_up_by_a_model"}) is None


# --- what is wrong with what a model asks for is answered ---------------------------------------------------------


def test_unknown_tool_is_answered_with_one_that_was_meant(ana: Api) -> None:
    result = the_result(ana, f"[[ABP_TOOL:memory_safe]]{TEA}")
    assert (result["outcome"], result["value"], result["retryable"]) == ("unknown_tool", None, False)
    assert "Did you mean memory_save?" in result["problems"][0]["detail"]


def test_invalid_parameters_are_answered_by_name(ana: Api) -> None:
    result = the_result(ana, SAVE + '{"content": 7, "importance": 2, "colour": "red"}')
    assert result["outcome"] == "invalid_parameters"
    assert [problem["attr"] for problem in result["problems"]] == ["colour", "content", "importance"]
    assert not Memory.objects.exists()


def test_the_values_of_vcp_are_typed_by_the_tool(ana: Api) -> None:
    assert the_result(ana, vcp("memory_save", content="tea", importance="0.75"))["outcome"] == "done"
    assert Memory.objects.get().importance == 0.75


# --- rights and bounds (DESIGN D1) --------------------------------------------------------------------------------


def test_key_that_reads_searches_by_tool_and_changes_nothing() -> None:
    reader = api_for(Scope(user_id="ana"), Permission.READ)
    saved = api_for(Scope(user_id="ana")).save("Ana likes tea.", decay_policy="reinforceable")
    reader.post(PARSE, {"text": ""})  # the first use of a key is noted
    before = stored()
    assert the_result(reader, SEARCH + '{"query": "tea"}')["value"]["count"] == 1
    for text in (SAVE + TEA, f'[[ABP_TOOL:memory_reinforce]]{{"id": "{saved["id"]}"}}'):
        result = the_result(reader, text)
        assert (result["outcome"], result["problems"][0]["code"]) == ("forbidden", "permission_denied")
    assert stored() == before


def test_every_tool_that_writes_is_forbidden_to_key_that_reads() -> None:
    reader = api_for(Scope(user_id="ana"), Permission.READ)
    writing = [tool.name for tool in tool_registry() if tool.permission is not Permission.READ]
    assert {"memory_save", "memory_reinforce"} <= set(writing)
    assert {the_result(reader, abp(name, "{}"))["outcome"] for name in writing} == {"forbidden"}


@pytest.mark.parametrize("make", [abp, None], ids=["abp", "vcp"])
def test_bound_key_saves_nothing_outside_its_bound(ana: Api, make: Any) -> None:
    fields = {"content": "Ben hates tea.", "user_id": "ben"}
    text = vcp("memory_save", **fields) if make is None else SAVE + '{"content": "Ben hates tea.", "user_id": "ben"}'
    result = the_result(ana, text)
    assert (result["outcome"], result["problems"][0]["attr"]) == ("forbidden", "user_id")
    assert not Memory.objects.exists()


@pytest.mark.parametrize("named", ["", ', "user_id": "ben"'])
def test_bound_key_finds_nothing_outside_its_bound(ana: Api, named: str) -> None:
    api_for(Scope(user_id="ben")).save("Ben hides the tea.")
    result = the_result(ana, f'{SEARCH}{{"query": "tea", "explain": true{named}}}')
    assert (result["outcome"], result["value"]["results"]) == ("done", [])
    assert result["value"]["diagnostics"]["considered_count"] == 0


def test_what_tests_of_isolation_ask_for_is_found_inside_bound(ana: Api) -> None:
    ana.save("Her secret word is tea.")
    assert the_result(ana, ASKED_BY_A_MODEL)["value"]["count"] == 1


def test_memory_outside_bound_answers_like_one_that_does_not_exist(ana: Api) -> None:
    saved = api_for(Scope(user_id="ben")).save("Ben runs daily.", decay_policy="reinforceable")
    answers = [
        the_result(ana, f'[[ABP_TOOL:memory_reinforce]]{{"id": "{uuid}"}}')
        for uuid in (saved["id"], "00000000-0000-4000-8000-000000000000")
    ]
    assert answers[0] == answers[1]
    assert Memory.objects.get().last_reinforced_at is None


# --- bad requests ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [PARSE, EXECUTE])
@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({}, "text"),
        ({"text": None}, "text"),
        ({"text": 7}, "text"),
        ({"text": [SAVE + TEA]}, "text"),
        ({"text": SAVE + TEA + "\x00"}, "text"),
        ({"text": SAVE + TEA + "\ud800"}, "text"),
        ({"text": SAVE + TEA + " " * 100_000}, "text"),
        ({"text": SAVE + TEA, "mode": "both"}, "mode"),
        ({"text": SAVE + TEA, "mode": None}, "mode"),
        ({"text": SAVE + TEA, "user_id": "ana"}, "user_id"),
        ([SAVE + TEA], "non_field_errors"),
    ],
)
def test_bad_request_names_field_and_runs_nothing(ana: Api, path: str, body: Any, attr: str) -> None:
    assert_refused(ana.post(path, body), 400, attr)
    assert not Memory.objects.exists()


def test_a_text_of_the_greatest_length_is_taken(ana: Api) -> None:
    assert the_result(ana, (SAVE + TEA).rjust(100_000))["outcome"] == "done"


def test_a_text_that_is_too_long_names_the_limit(ana: Api) -> None:
    response = ana.post(PARSE, {"text": "x" * 100_001})
    assert error_attrs(response) == ["text"]
    assert "100000" in response.json()["errors"][0]["detail"]


def test_unclosed_vcp_is_answered_as_text(ana: Api) -> None:
    text = f"{VCP}tool_name:「始」memory_save「末」"
    answer = parsed(ana, text)
    assert (answer["protocol"], answer["refused"][0]["code"], answer["text"]) == ("text", "unterminated", text)
