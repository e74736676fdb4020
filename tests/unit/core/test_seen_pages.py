"""Finished pages: unseen characters are marked, and text from right to left moves nothing beside it."""

import re

import pytest
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from hypothesis import given
from hypothesis import strategies as st

from apps.core.pages.seen import MAX_CHARS, SeenMiddleware, show_unseen
from tests.timing import assert_quick

RLO = "\u202e"
UNSEEN = '<span class="mh-unseen" title="Right-to-left override">[U+202E]</span>'
# As the template engine writes it.
ESCAPED = st.text("ab אב\u200b\u202e\u0301а&<>\"'\n", max_size=60).map(
    lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
)


def test_an_unseen_character_of_a_text_is_an_element_with_its_name() -> None:
    assert show_unseen(f"<p>ana{RLO}nimda</p>") == f"<p>ana{UNSEEN}nimda</p>"


@pytest.mark.parametrize("name", ["title", "aria-label", "alt", "placeholder", "data-label"])
def test_attributes_that_are_read_are_marked(name: str) -> None:
    assert show_unseen(f'<p class="x" {name}="a{RLO}b">x</p>') == f'<p class="x" {name}="a[U+202E]b">x</p>'


@pytest.mark.parametrize(
    "part",
    [
        f"<textarea name='x'>a{RLO}<b>b</textarea>",
        f'<input value="a{RLO}b">',
        f'<script src="/x.js">"{RLO}"</script>',
        f'<option value="a{RLO}b">x</option>',
        f"<!-- a{RLO}b -->",
    ],
)
def test_what_a_form_or_script_sends_back_is_kept(part: str) -> None:
    assert show_unseen(f"<p>שלום</p>{part}") == f"<p><bdi>שלום</bdi></p>{part}"


@pytest.mark.parametrize("name", ["title", "option", "svg"])
def test_no_element_is_put_where_none_may_be(name: str) -> None:
    assert show_unseen(f"<{name}>א{RLO}</{name}>") == f"<{name}>א[U+202E]</{name}>"


def test_words_from_right_to_left_are_isolated_as_a_whole() -> None:
    assert show_unseen("<td>שלום, עולם 3 open</td>") == "<td><bdi>שלום, עולם</bdi> 3 open</td>"


def test_a_letter_of_another_alphabet_within_a_word_is_marked() -> None:
    shown = show_unseen("<b>pаypal и paypal</b>")
    assert shown == (
        '<b>p<span class="mh-mixed" title="Of another alphabet: Cyrillic small letter a">а</span>ypal и paypal</b>'
    )


def test_a_long_text_of_marks_stays_bounded() -> None:
    text = "a\u200b" * MAX_CHARS
    assert len(show_unseen(f"<p>{text}</p>")) < 5 * len(text)
    assert_quick(lambda each: show_unseen(f"<p>{each}</p>"), text, 2)


@given(text=ESCAPED, title=ESCAPED.map(lambda text: text.replace("'", "&#x27;")))
def test_nothing_but_marks_is_added_to_a_page(text: str, title: str) -> None:
    page = f'<main><p title="{title}">{text}</p><textarea>{text}</textarea></main>'
    shown = show_unseen(page)
    unmarked = re.sub(r'<span class="mh-unseen" title="[^"]*">.*?</span>|</?bdi>|</?span[^>]*>', "", shown)
    unseen = "\u200b\u202e\u0301"
    bare = re.sub(f"[{unseen}]|\\[U[^]]*]|\\[\\+[^]]*]", "", unmarked)
    assert bare == re.sub(f"[{unseen}]", "", page)
    assert set(shown.split("<textarea>")[0]) & {"\u200b", "\u202e"} == set()


def passed(response: HttpResponseBase) -> HttpResponseBase:
    return SeenMiddleware(lambda _: response)(HttpRequest())


def test_pages_only_are_changed() -> None:
    assert passed(HttpResponse(f"a{RLO}")).content == f"a{UNSEEN}".encode()  # type: ignore[attr-defined]
    answer = JsonResponse({"a": RLO}, json_dumps_params={"ensure_ascii": False})
    assert RLO in passed(answer).content.decode()  # type: ignore[attr-defined]
    assert passed(FileResponse([RLO], content_type="text/html")).streaming


def test_a_plain_page_is_not_touched() -> None:
    response = HttpResponse(b"<p>Ana prefers tea\n\t</p>")
    before = response.content
    assert passed(response).content is before  # type: ignore[attr-defined]
