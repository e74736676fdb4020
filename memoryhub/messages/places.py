"""Which catalogs there are, and which files the words of each come from."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LANGUAGE = "zh_Hant"

# Packages of others whose pages are shown. Words that none of their own catalogs has are in the catalog of the root.
FOREIGN = (
    "unfold",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_q",
    "django.contrib.admin",
    "django.contrib.auth",
)
# Parts of them that are not used here: mails, signing up, addresses of mail, contributions, logs, a terminal's screen.
UNUSED = re.compile(
    r"/email/|signup|email_|/phone|verified_|confirm_email|/tests/|/management/|import_export|simple_history|guardian"
    r"|wysiwyg|/contrib/admin/models\.py|/django_q/(?!models|admin)"
)
# Folders whose catalogs come with these packages.
WITH_CATALOGS = ("django.conf", "django.contrib.admin", "django.contrib.auth", "allauth", "rest_framework")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A catalog. folder: its `locale`. domain: `django`, or `djangojs` for words of scripts.

    sources: its files. foreign: files of others, of which only the words that they do not translate themselves count.
    """

    name: str
    folder: Path
    sources: tuple[Path, ...]
    domain: str = "django"
    foreign: tuple[Path, ...] = ()

    @property
    def po(self) -> Path:
        """Return the file that people edit."""
        return self.folder / LANGUAGE / "LC_MESSAGES" / f"{self.domain}.po"

    @property
    def mo(self) -> Path:
        """Return the file that Django reads."""
        return self.po.with_suffix(".mo")


def places(root: Path = ROOT) -> list[Place]:
    """Return all catalogs: one for each app, one for what no single app owns, and one for scripts."""
    apps = [
        Place(name=app.parent.name, folder=app.parent / "locale", sources=tuple(sources_in(app.parent)))
        for app in sorted(root.glob("apps/*/apps.py"))
    ]
    shared = (*sources_in(root / "memoryhub"), *sources_in(root / "templates"))
    scripts = tuple(one for one in sorted((root / "static").rglob("*.js")) if "vendor" not in one.parts)
    return [
        *apps,
        Place(name="shared", folder=root / "locale", sources=shared, foreign=tuple(foreign_sources())),
        Place(name="scripts", folder=root / "locale", sources=scripts, domain="djangojs"),
    ]


def sources_in(folder: Path) -> Iterator[Path]:
    """Yield modules and templates of a folder."""
    for file in sorted(folder.rglob("*")):
        is_template = file.suffix in {".html", ".txt"} and "templates" in file.parts
        if is_template or (file.suffix == ".py" and "migrations" not in file.parts):
            yield file


def folder_of(package: str) -> Path:
    """Return the folder of an installed package. Raises LookupError."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise LookupError(package)
    return Path(found.submodule_search_locations[0])


def foreign_sources() -> Iterator[Path]:
    """Yield modules and templates of packages of others, templates of allauth among them."""
    template_folders = [folder_of("allauth") / "templates" / name for name in ("account", "mfa", "usersessions")]
    for folder in (*map(folder_of, FOREIGN), *template_folders):
        for file in sources_in(folder):
            if not UNUSED.search(file.as_posix()):
                yield file


def foreign_catalogs() -> Iterator[Path]:
    """Yield the catalogs that come with packages of others."""
    for package in WITH_CATALOGS:
        file = folder_of(package) / "locale" / LANGUAGE / "LC_MESSAGES" / "django.mo"
        if file.exists():
            yield file
