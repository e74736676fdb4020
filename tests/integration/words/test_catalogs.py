"""The catalogs are complete and right, and their checks find what is not."""

from pathlib import Path

import pytest

from memoryhub.messages.catalogs import empty, messages_of, renewed, write
from memoryhub.messages.faults import faults_of, faults_of_message
from memoryhub.messages.places import Place, places


def test_every_word_is_translated() -> None:
    assert faults_of(places()) == []


def catalog(tmp_path: Path, source: str, translations: dict[str, str], name: str = "page.html") -> Place:
    """Return a catalog that was written, of one source."""
    file = tmp_path / name
    file.write_text(source)
    place = Place(name="test", folder=tmp_path / "locale", sources=(file,))
    found = renewed(place)
    for message in messages_of(found):
        text = translations.get(message.id if isinstance(message.id, str) else message.id[0], "")
        message.string = (text,) if message.pluralizable else text
    write(place, found)
    return place


TEMPLATE = """{% load i18n %}<p>{% translate "Tea" %} {% translate "Saw" context "a tool" %}
{% blocktranslate trimmed count counter=n %}
  One cup
{% plural %}
  {{ counter }} cups
{% endblocktranslate %}{{ _("Milk") }}{% comment %}Translators: as a drink{% endcomment %}
{% translate "Water" %}</p>"""
CHINESE = {"Tea": "茶", "Saw": "鋸子", "One cup": "%(counter)s 杯", "Milk": "牛奶", "Water": "水"}


def test_templates_are_read_as_django_does(tmp_path: Path) -> None:
    place = catalog(tmp_path, TEMPLATE, CHINESE)
    found = {message.id: message for message in messages_of(renewed(place))}
    assert set(found) == {"Tea", "Saw", ("One cup", "%(counter)s cups"), "Milk", "Water"}
    assert found["Saw"].context == "a tool"
    assert found["Water"].auto_comments == ["Translators: as a drink"]
    assert faults_of([place]) == []


def test_modules_and_scripts_are_read(tmp_path: Path) -> None:
    source = 'from x import gettext as _\nA = _("Tea" " and milk")\nB = ngettext("%(n)s cup", "%(n)s cups", f(n))\n'
    assert {message.id for message in messages_of(renewed(catalog(tmp_path, source, {}, "page.py")))} == {
        "Tea and milk", ("%(n)s cup", "%(n)s cups"),
    }  # fmt: skip
    script = 'const a = gettext("Tea"), b = interpolate(ngettext("%(n)s cup", "%(n)s cups", n), {n}, true);'
    assert {message.id for message in messages_of(renewed(catalog(tmp_path, script, {}, "page.js")))} == {
        "Tea", ("%(n)s cup", "%(n)s cups"),
    }  # fmt: skip


def test_what_a_catalog_lacks_is_said(tmp_path: Path) -> None:
    place = catalog(tmp_path, TEMPLATE, CHINESE)
    (tmp_path / "page.html").write_text(TEMPLATE.replace("Tea", "Coffee"))
    found = " ".join(faults_of([place]))
    assert "missing 'Coffee'" in found
    assert "no longer used 'Tea'" in found
    assert "untranslated 'Coffee'" in found
    assert "out of date" in found
    place = catalog(tmp_path, TEMPLATE, CHINESE)
    place.mo.write_bytes(b"")
    assert faults_of([place]) == ["test: django.mo is not that of django.po"]


def test_two_translations_of_a_word_are_found(tmp_path: Path) -> None:
    ways = [tmp_path / name for name in ("one", "other")]
    for folder in ways:
        folder.mkdir()
    found = faults_of([catalog(ways[0], TEMPLATE, CHINESE), catalog(ways[1], TEMPLATE, CHINESE | {"Tea": "茶葉"})])
    assert len(found) == 1
    assert "two translations of 'Tea'" in found[0]


def test_writing_a_catalog_again_changes_nothing(tmp_path: Path) -> None:
    place = catalog(tmp_path, TEMPLATE, CHINESE)
    before = place.po.read_bytes(), place.mo.read_bytes()
    assert not write(place, renewed(place))
    assert (place.po.read_bytes(), place.mo.read_bytes()) == before
    assert b"page.html" not in before[0]


@pytest.mark.parametrize(
    ("words", "text", "fault"),
    [
        ("%(count)s cups", "杯", "its translation"),
        ("{name} drinks", "{nam} 喝茶", "its translation"),
        ("<strong>Tea</strong>", "<b>茶</b>", "its translation"),
        ("See the API ", "見 API", "blanks"),
        ("Tea, please.", "茶,謝謝。", "punctuation"),
        ("Tea.", "茶.", "punctuation"),
        ("Tea (hot)", "茶(熱)", "punctuation"),
        ("Software", "软件", "Taiwan"),
        (" and ", "和", None),
        ("Tea", "", "untranslated"),
        ("Tea, at 7:30.", "茶，7:30。", None),
        ('<a href="{}">%(n)s</a>', '<a href="{}">%(n)s</a>', None),
    ],
)
def test_a_wrong_translation_is_found(words: str, text: str, fault: str | None) -> None:
    target = empty()
    target.add(words, text)
    found = [one for message in messages_of(target) for one in faults_of_message(message)]
    assert len(found) == (0 if fault is None else 1)
    assert fault is None or fault in found[0]
