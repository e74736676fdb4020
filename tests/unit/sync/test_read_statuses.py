"""A status is what its document says it is, and unknown where its words are: never in force by guess."""

import pytest

from apps.sync.domain.items import derive_items
from apps.sync.domain.knowledge import Convention, ItemStatus, ReadMapping, ReadSettings
from apps.sync.domain.readers.read import read_file
from tests.unit.sync.conventions import documents
from tests.unit.sync.readers import parsed, refused

ACCEPTED, DRAFT, UNKNOWN = ItemStatus.ACCEPTED, ItemStatus.DRAFT, ItemStatus.UNKNOWN


def test_statuses_of_200_documents_in_ten_conventions():
    written = list(documents())
    assert len(written) == 200
    read = [(one, parsed(one.path, one.text)) for one in written]
    wrong = [(one.convention, one.path, one.status, file.status) for one, file in read if file.status is not one.status]
    print(f"statuses right: {len(read) - len(wrong)} of {len(read)}")
    assert len(wrong) <= 4, wrong
    assert not [file.path for _, file in read if file.title != "Keep tea" and "Keeping" not in file.title]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("---\ntitle: X\nstage: discontinued\n---\n\nText.\n", ItemStatus.DEPRECATED),
        ("---\ntitle: X\nstage: sideways\n---\n\nText.\n", UNKNOWN),
        ("---\ntitle: X\nstatus: 3\n---\n\nText.\n", UNKNOWN),
        ("---\ntitle: X\nstatus:\n  name: rejected\n  date: 2026-01-31\n---\n\nText.\n", ItemStatus.REJECTED),
        ("---\ntitle: X\ndraft: true\n---\n\nText.\n", DRAFT),
        ("---\ntitle: X\ndeprecated: false\n---\n\nText.\n", ACCEPTED),
        ("# X\n\nStatus: Deployed\n\nText.\n", ACCEPTED),
        ("# X\n\nStatus: Draft\n\nText.\n", DRAFT),
        ("# X\n\n## Status: Rejected\n\nText.\n", ItemStatus.REJECTED),
        ("# X\n\n## Status\n\n**Withdrawn**\n\n## Text\n\nMore.\n", ItemStatus.REJECTED),
        ("# X\n\n```yaml\nstatus: proposed\n```\n\nText.\n", ItemStatus.PROPOSED),
        ("= X\n:status: deprecated\n\nText.\n", ItemStatus.DEPRECATED),
        ("# X\n\nText.\n", ACCEPTED),
    ],
)
def test_status_of_texts_in_folders_of_any_name(text, status):
    path = "guides/x.adoc" if text.startswith("=") else "guides/x.md"
    assert parsed(path, text).status is status


@pytest.mark.parametrize(
    "text",
    [
        "# API\n\nStatus: the server answers with the state of the order that was asked for.\n\nText.\n",
        "# API\n\n## Status\n\nThe status of an order is open until somebody has paid for all of it.\n",
        "# API\n\n```python\nstatus = 'draft'\n```\n\nText.\n",
    ],
)
def test_prose_about_states_is_no_status(text):
    assert parsed("guides/x.md", text).status is ACCEPTED


def test_title_and_number_come_from_header_lines_in_a_fence():
    file = parsed(
        "bip-0032.mediawiki",
        "<pre>\n  BIP: 32\n  Title: Trees of keys\n  Status: Final\n</pre>\n\n==Abstract==\n\nText.",
    )
    assert (file.item_id, file.title, file.summary, file.convention) == (
        "BIP-32", "Trees of keys", "Text.", Convention.HEADERS,
    )  # fmt: skip


def test_metadata_of_an_enhancement_belong_to_the_text_beside_it():
    head = "title: Keep tea\nkep-number: 12\nstatus: withdrawn\nreplaces: [/keps/sig-tea/3-x]\n"
    files = [
        parsed("keps/sig-tea/12-tea/kep.yaml", head),
        parsed("keps/sig-tea/12-tea/README.md", "# KEP-12: Tea\n\n## Summary\n\nTea in tins.\n"),
    ]
    derived = derive_items(files)
    [item] = derived.items.values()
    assert (item.path, item.title, item.summary, item.status) == (
        "keps/sig-tea/12-tea/README.md", "Keep tea", "Tea in tins.", ItemStatus.REJECTED,
    )  # fmt: skip
    assert not derived.refused
    [alone] = derive_items(files[:1]).items.values()
    assert (alone.item_id, alone.status) == (item.item_id, ItemStatus.REJECTED)


def test_source_says_what_its_own_words_mean():
    mapping = ReadMapping(
        fields={"ripeness": "status"}, statuses={"green": DRAFT, "stage 4": ACCEPTED}, kinds={"text": "RFC"}
    )
    settings = ReadSettings(mapping=mapping)
    text = "---\ntitle: X\nripeness: {}\n---\n\nText.\n"
    file = read_file("text/0141-lifetimes.md", text.format("Green").encode(), settings)
    assert (file.item_id, file.status, file.type) == ("RFC-0141", DRAFT, "spec")
    assert read_file("text/0141-x.md", text.format("Stage 4").encode(), settings).status is ACCEPTED
    assert read_file("text/0141-x.md", text.format("ripe").encode(), settings).status is UNKNOWN
    assert read_file("text/0141-x.md", b"# X\n\nRipeness: green\n\nText.\n", settings).status is DRAFT


def test_template_of_an_enhancement_is_none():
    assert (
        refused("keps/NNNN-x/kep.yaml", "title: X\nkep-number: NNNN\nstatus: provisional|implementable\n").code
        == "template"
    )
