"""Kinds, states, reasons and problems of imports, in words for a person."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.core.domain.errors import MemoryHubError
from apps.imports.domain.found import Kind, Reason, Target
from apps.imports.selectors import ImportState
from apps.webui.problems import WORDS as COMMON

Words = str | Promise
KINDS: dict[str, Words] = {
    Kind.CHATGPT: "ChatGPT",
    Kind.CLAUDE: "Claude",
    Kind.MEM0: "mem0",
    Kind.BASIC_MEMORY: "Basic Memory",
    Kind.CLAUDE_CODE: "Claude Code",
    Kind.MARKDOWN: gettext_lazy("Folder of Markdown"),
}
TARGETS: dict[str, Words] = {
    Target.MEMORIES: gettext_lazy("Memories"),
    Target.EVENTS: gettext_lazy("Messages of conversations"),
    Target.NOTES: gettext_lazy("Notes"),
}
STATES: dict[str, Words] = {
    ImportState.WAITING: gettext_lazy("being read"),
    ImportState.LOOKED: gettext_lazy("waits for you to decide"),
    ImportState.REFUSED: gettext_lazy("cannot be brought in"),
    ImportState.RUNNING: gettext_lazy("being brought in"),
    ImportState.DONE: gettext_lazy("brought in"),
    ImportState.UNDOING: gettext_lazy("being undone"),
    ImportState.UNDONE: gettext_lazy("undone"),
    ImportState.FAILED: gettext_lazy("stopped before its end"),
}
REASONS: dict[str, Words] = {
    Reason.NO_WORDS: gettext_lazy("no words in it"),
    Reason.NO_DATE: gettext_lazy("no date"),
    Reason.IN_THE_FUTURE: gettext_lazy("dated in the future"),
    Reason.TOO_LONG: gettext_lazy("too long"),
    Reason.TOO_LARGE: gettext_lazy("too large"),
    Reason.TOOL: gettext_lazy("questions to tools and their answers, and thoughts of the assistant"),
    Reason.HIDDEN: gettext_lazy("hidden in the conversation"),
    Reason.OTHER_BRANCH: gettext_lazy("replaced by another version of the conversation"),
    Reason.ATTACHMENT: gettext_lazy("attached files"),
    Reason.OTHER_USER: gettext_lazy(
        "of another user: name yours under “Several users in a file of mem0” when you upload the file"
    ),
    Reason.DELETED: gettext_lazy("switched off"),
    Reason.ONLY_A_LINK: gettext_lazy("only a link to a file, which becomes a note"),
    Reason.NOT_UNDERSTOOD: gettext_lazy("not what was expected there"),
    Reason.NOT_UTF8: gettext_lazy("not a text in UTF-8"),
    Reason.PATH: gettext_lazy("a file name that no note can have"),
    Reason.NOTE_EXISTS: gettext_lazy("you have a note of this name with other words"),
    Reason.RULES: gettext_lazy("the rules of this hub prefer what it has"),
    Reason.PAUSED: gettext_lazy("remembering is paused"),
    Reason.OTHER: gettext_lazy("could not be saved"),
}
# By the codes of errors: what is wrong, and what to do.
PROBLEMS: dict[str, Words] = {
    "damaged": gettext_lazy("This ZIP file is damaged or incomplete. Download it again, then upload it."),
    "unreadable": gettext_lazy("This file cannot be read. Download it again, then upload it."),
    "too_many_files": gettext_lazy("There are too many files in it. Upload a part of the folder at a time."),
    "unsafe_path": gettext_lazy(
        "A file in it leads outside of the folder, so nothing of it is read. Pack the folder again, without links."
    ),
    "encrypted": gettext_lazy("It is protected with a password. Unpack it, and upload what was in it."),
    "too_large_unpacked": gettext_lazy(
        "It would unpack to far more than an export is, so nothing of it is read. Upload the file as you received it."
    ),
    "nothing_found": gettext_lazy("Nothing in it is of this kind. Choose another kind, or upload another file."),
    "unrecognised": gettext_lazy("It does not show which program it is from. Choose the kind, then upload it again."),
    "not_json": gettext_lazy("It is not valid JSON, or it is cut off. Export it again, then upload it."),
    "too_large_item": gettext_lazy("A text in it is too long to be read. Upload it without this text."),
    "wrong_file": gettext_lazy("Choose a ZIP, JSON or Markdown file. Pack a folder as a ZIP file first."),
    "import_open": gettext_lazy("Another import goes on. Wait until it is done, then try again."),
    "file_gone": gettext_lazy("The file is no longer here. Upload it again."),
    "files_changed": gettext_lazy("The file has changed. Undo this import, then upload the file again."),
    "not_waiting": gettext_lazy("This was brought in already. You can undo it."),
    "changed_since": gettext_lazy("This has changed meanwhile. Look at it again."),
    "nothing_to_undo": gettext_lazy("There is nothing to undo."),
    "not_stored": gettext_lazy("The hub could not store the file: its disk may be full. Tell who runs this hub."),
    "interrupted": gettext_lazy("It was interrupted several times at the same place. Tell who runs this hub."),
    "saving_paused": COMMON["saving_paused"],
    "being_forgotten": COMMON["being_forgotten"],
    "files_unreachable": gettext_lazy("The hub cannot reach its files. It goes on by itself when it can."),
    "unavailable": gettext_lazy("The hub is busy. It goes on by itself in a moment."),
}


def problem_words(code: str) -> str:
    """Return what is said to a person about a problem."""
    return str(PROBLEMS.get(code) or _("Something went wrong. Try again, or tell who runs this hub."))


def words_of(error: MemoryHubError) -> str:
    """Return what is said to a person about an error of a service."""
    return problem_words(error.code)
