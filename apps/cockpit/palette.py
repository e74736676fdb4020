"""The palette: what Ctrl+K finds among pages, memories, people, decisions and keys, as far as the viewer sees them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.cockpit.pages import render_fragment
from apps.cockpit.people.pages import person_link
from apps.cockpit.words import whose
from apps.core.admin.kit import moment, operator_access
from apps.core.admin.lists import as_uuid, comparable
from apps.core.db.names import NameSpan
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Access, Scope
from apps.core.pages.texts import first_words
from apps.core.selectors import key_list
from apps.core.words import Words
from apps.semantic.selectors import (
    MemoryStatus,
    conflict_get,
    conflicts_with_words,
    memories_with_words,
    memory_counts,
    memory_get_any,
)

# Before anything is typed.
SHOWN_PAGES = 8
SHOWN = 5
# Shorter texts are looked for among the pages only: every memory has an e.
MIN_CHARS = 2
Found = TypeVar("Found")
MAX_CHARS = 200


@dataclass(frozen=True)
class PaletteEntry:
    """Something found. note: what it is. is_struck: it does not hold any more."""

    title: str
    note: str
    link: str
    icon: str
    is_struck: bool = False


@dataclass(frozen=True)
class Group:
    """What was found of one kind."""

    title: str
    entries: tuple[PaletteEntry, ...]


def find_all(request: HttpRequest, text: str) -> list[Group]:
    """Return what a viewer may see and a text finds, by kind, without kinds of which there is nothing."""
    wanted = text.casefold().split()
    found = [entry for entry, words in all_pages(request) if all(begins(words, word) for word in wanted)]
    found.sort(key=lambda entry: not all(begins(entry.title.casefold(), word) for word in wanted))
    groups = [Group(gettext("Pages"), tuple(found[: SHOWN if wanted else SHOWN_PAGES]))]
    if len(text) >= MIN_CHARS:
        groups += [Group(str(title), tuple(find(request, text))) for title, find in SOURCES]
    return [group for group in groups if group.entries]


def begins(words: str, beginning: str) -> bool:
    """Return whether one of some words begins with a text."""
    return any(word.startswith(beginning) for word in words.split())


def all_pages(request: HttpRequest) -> Iterator[tuple[PaletteEntry, str]]:
    """Yield every page that the viewer may see, with the words that find it."""
    from apps.cockpit.table import PAGES

    for page in PAGES:
        if page.title and page.is_allowed(request):
            link = reverse(f"cockpit_{page.name}")
            yield (
                PaletteEntry(str(page.title), gettext("Page"), link, page.icon or "web"),
                f"{page.title} {page.words}".casefold(),
            )
    for model, model_admin in admin.site._registry.items():
        if model_admin.has_view_permission(request):
            title = str(model._meta.verbose_name_plural)
            link = reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist")
            app = str(model._meta.app_config.verbose_name)
            note = gettext("List in %(app)s") % {"app": app}
            yield PaletteEntry(title[:1].upper() + title[1:], note, link, "list"), f"{title} {app}".casefold()
    title, words = gettext("API documentation"), gettext("api documentation developer openapi")
    yield PaletteEntry(title, gettext("For developers"), reverse("docs"), "api"), f"{title} {words}".casefold()


def find_memories(request: HttpRequest, text: str) -> Iterator[PaletteEntry]:
    """Yield memories of whatever status with the words, or the id, of a text, the newest first."""
    if not request.user.has_perm("semantic.view_memory"):
        return
    access = operator_access(request)
    for memory in one_or_many(access, text, memory_get_any, memories_with_words):
        link = reverse("admin:semantic_memory_change", args=[memory.pk])
        is_active = memory.status == MemoryStatus.ACTIVE
        note = gettext("%(status)s, of %(whose)s") % {
            "status": memory.get_status_display(),
            "whose": whose(memory.scope),
        }
        yield PaletteEntry(first_words(memory.content), note, link, "neurology", is_struck=not is_active)


def find_people(request: HttpRequest, text: str) -> Iterator[PaletteEntry]:
    """Yield people in whose ids a text occurs."""
    if not request.user.has_perm("semantic.view_memory"):
        return
    span = NameSpan(limit=SHOWN, containing=text)
    for one in memory_counts(operator_access(request), Scope(), "user_id", span):
        note = gettext("Person with %(count)s memories") % {"count": f"{one.active:,}"}
        yield PaletteEntry(one.name, note, person_link(one.name), "person")


def find_decisions(request: HttpRequest, text: str) -> Iterator[PaletteEntry]:
    """Yield decisions about memories with the words of a text, or the one with its id, the newest first."""
    if not request.user.has_perms(("semantic.view_memory", "semantic.view_conflict")):
        return
    for receipt in one_or_many(operator_access(request), text, conflict_get, conflicts_with_words):
        link = reverse("admin:semantic_conflict_change", args=[receipt.pk])
        note = f"{receipt.get_outcome_display()}, {receipt.get_state_display().lower()}, {moment(receipt.at)}"
        yield PaletteEntry(first_words(receipt.candidate.content), note, link, "balance")


def find_keys(request: HttpRequest, text: str) -> Iterator[PaletteEntry]:
    """Yield keys with the words of a text in their names; of accounts without a bound only."""
    if not request.user.has_perm("core.view_apikey") or operator_access(request).bound.named():
        return
    keys = key_list()
    for word in text.split():
        keys = keys.filter(name__icontains=word)
    for key in keys[:SHOWN]:
        note = gettext("Revoked key") if key.revoked_at else gettext("Key of %(whose)s") % {"whose": whose(key.scope)}
        yield PaletteEntry(
            key.name, note, reverse("admin:core_apikey_change", args=[key.pk]), "key", bool(key.revoked_at)
        )


def one_or_many(
    access: Access, text: str, get: Callable[[Access, UUID], Found], find: Callable[[Access, str, int], list[Found]]
) -> list[Found]:
    """Return the object whose id a text is, else those with its words."""
    uuid = as_uuid(text)
    if uuid is None:
        return find(access, text, SHOWN)
    try:
        return [get(access, uuid)]
    except NotFoundError:
        return []


Source = Callable[[HttpRequest, str], Iterator[PaletteEntry]]
SOURCES: tuple[tuple[Words, Source], ...] = (
    (_("Memories"), find_memories),
    (_("People"), find_people),
    (_("Decisions"), find_decisions),
    (_("Keys"), find_keys),
)


@require_POST
def palette_results(request: HttpRequest) -> HttpResponse:
    """Return what a text finds; it is posted, so that it is in no address."""
    text = comparable(request.POST.get("q"))[:MAX_CHARS]
    return render_fragment(request, "cockpit/palette_results.html", groups=find_all(request, text), text=text)
