"""Notes in the admin: each file with its versions, what each changed, and their restoration."""

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import MD5
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    badge_column,
    choice_badge,
    column,
    filesize,
    link,
    moment_column,
    monospace,
    preformatted,
    render_difference,
    required_permission,
    stacked,
    two_lines,
)
from apps.core.admin.lists import SearchedList, UserFilter
from apps.core.admin.steps import make_dialog, step_action
from apps.core.domain.diff import compare_lines
from apps.core.words import Counted
from apps.notes.admin.person import person_page
from apps.notes.files.changes import place_of
from apps.notes.models import ChangeKind, NoteVersion
from apps.notes.selectors import version_text
from apps.notes.services import note_restore

KIND_COLOURS = {
    "append": "success", "edit": "info", "restore": "info", "found": "warning", "kept": "danger",
    "delete": "danger", "rename": "info",
}  # fmt: skip
# A longer text is not rendered on a page.
MAX_SHOWN_CHARS = 200_000
PAGE = "admin:notes_noteversion_change"
RESTORED = Counted("%(count)s version restored.", "%(count)s versions restored.", "count")


class VersionsFilter(admin.SimpleListFilter):
    """Show each note once, with its latest version, or all versions."""

    title, parameter_name = _("versions"), "versions"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("all", gettext("All versions"))]

    def choices(self, changelist: Any) -> Any:
        yield {
            "selected": self.value() is None,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": gettext("The latest of each note"),
        }
        for value, title in self.lookup_choices:
            query = changelist.get_query_string({self.parameter_name: value})
            yield {"selected": self.value() == value, "query_string": query, "display": title}

    def queryset(self, request: HttpRequest, queryset: QuerySet[NoteVersion]) -> QuerySet[NoteVersion]:
        if self.value() == "all":
            return queryset
        # The latest version of each note that its file had.
        newer = NoteVersion.objects.annotate(digest=MD5("place")).filter(
            user_id=OuterRef("user_id"), digest=MD5(OuterRef("place")), number__gt=OuterRef("number")
        )
        return queryset.exclude(kind=ChangeKind.KEPT).exclude(Exists(newer.exclude(kind=ChangeKind.KEPT)))


@admin.register(NoteVersion)
class NoteVersionAdmin(SearchedList, ReadOnly, ModelAdmin):
    """Notes and their versions, read-only; restoring one goes through the services."""

    list_display = ["note", "kind_now", "changed_by", "size_now", "when"]
    list_filter = [VersionsFilter, UserFilter, "kind"]
    list_disable_select_all = True
    search_help_text = _("A user, the start of a path such as daily/2026-03, or an id")
    actions_list = ["person"]
    actions_detail = ["restore_this"]
    fieldsets = [
        (None, {"fields": [("whose", "path"), ("what", "author"), ("when", "neighbours")]}),
        (_("What it changed"), {"fields": ["difference"], "classes": ["tab"]}),
        (_("Whole text"), {"fields": ["full_text"], "classes": ["tab"]}),
        (_("Details"), {"fields": [("number", "size_now"), "digest", "operation", "uuid"], "classes": ["tab"]}),
    ]
    readonly_fields = [
        "whose", "path", "what", "author", "when", "neighbours", "difference", "full_text", "number", "size_now",
        "digest", "operation", "uuid",
    ]  # fmt: skip
    empty_text = _("No notes yet. They are created when something is added to MEMORY.md or to a daily log.")

    class Media:
        css = {"all": ["memoryhub/diff.css", "notes/notes.css"]}

    def find_by_words(self, queryset: QuerySet[NoteVersion], term: str) -> QuerySet[NoteVersion]:
        """Return the versions of a whole user id, or of notes whose path begins so."""
        return queryset.filter(Q(user_id=term) | Q(place__startswith=term))

    # Columns and fields

    kind_now = badge_column("kind", _("Change"), KIND_COLOURS)
    when = moment_column("at", _("At"), ordering="id")
    size_now = column(_("Size"), lambda version: filesize(version.size), ordering="size")
    whose = column(_("Whose"), lambda version: version.user_id)
    path = column(_("Note"), lambda version: version.place)
    what = column(_("Change"), lambda version: choice_badge(version, "kind", KIND_COLOURS))
    digest = column(_("SHA-256"), lambda version: monospace(version.sha256))
    changed_by = column(_("By"), lambda version: version.author)

    @display(description=_("Note"), ordering="place")
    def note(self, version: NoteVersion) -> SafeString:
        return two_lines(
            version.place, gettext("%(user)s, version %(number)s") % {"user": version.user_id, "number": version.number}
        )

    @display(description=_("Other versions"))
    def neighbours(self, version: NoteVersion) -> SafeString | str:
        others = NoteVersion.objects.of(version.user_id, place_of(version))
        before = others.filter(number__lt=version.number).order_by("-number").first()
        after = others.filter(number__gt=version.number).order_by("number").first()
        links = [
            link(PAGE, one.pk, str(words) % {"number": one.number, "kind": one.get_kind_display()})
            for words, one in (
                (gettext("Before: version %(number)s, %(kind)s"), before),
                (gettext("After: version %(number)s, %(kind)s"), after),
            )
            if one is not None
        ]
        return (
            stacked("", gettext("The only one"))
            if not links
            else format_html_join(" · ", "{}", ((one,) for one in links))
        )

    @display(description="")
    def difference(self, version: NoteVersion) -> SafeString | str:
        """Compare with the version that the file had before; of a text that was kept aside, with what won."""
        before = NoteVersion.objects.of(version.user_id, place_of(version)).current()
        base = before.filter(number__lt=version.number).order_by("-number").first()
        lines = compare_lines(shown(base) if base else "", shown(version))
        if not lines:
            return NOTHING
        return render_difference(line.marked for line in lines)

    @display(description="")
    def full_text(self, version: NoteVersion) -> SafeString:
        text = shown(version)
        if len(text) <= MAX_SHOWN_CHARS:
            return preformatted(text)
        return preformatted(text[:MAX_SHOWN_CHARS] + "\n\n" + gettext("The rest is not shown here."))

    restore_this = step_action(
        "restore_this",
        make_dialog(
            _("Restore this version?"),
            _("The file gets this text. The current text is kept as a version, so this can be undone."),
            _("Restore"),
        ),
        note_restore,
        said=RESTORED,
        permission="restore",
        icon="undo",
    )

    @action(description=_("Search and settings"), icon="person_search", permissions=["view"], url_path="person")
    def person(self, request: HttpRequest) -> HttpResponse:
        return person_page(self, request)

    has_restore_permission = required_permission("notes.change_noteversion")


def shown(version: NoteVersion) -> str:
    """Return the text of a version; what is not UTF-8 is marked."""
    return version_text(version).decode(errors="replace")
