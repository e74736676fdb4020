"""What the documentation names exists, and what exists is documented."""

import argparse
import ast
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

from tests.pictures import ALL as PICTURES
from tests.pictures import MAX_BYTES

ROOT = Path(settings.BASE_DIR)
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
CODE = ("apps", "memoryhub", "benchmarks")
COMMAND = re.compile(r"\bmanage\.py ([a-z_]+)")
CONSTRUCTOR = {"Counter": "_total", "Gauge": "", "Histogram": "", "Summary": ""}
FENCED = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
METRIC_NAME = re.compile(r"^\| `([a-z_]+)` \|", re.MULTILINE)
VARIABLE = re.compile(r"\b(?:MEMORYHUB_[A-Z_]*[A-Z]|DATABASE_URL)\b")


def read(*parts: str) -> str:
    return DOCS.joinpath(*parts).read_text("utf-8")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def rows(page: str) -> list[str]:
    """Return the first cells of the tables of a page."""
    return [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]


# --- links --------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    text = FENCED.sub("", page.read_text("utf-8"))
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"[`*]", "", LINK.sub("]", heading)).strip().lower()
        kept = (char for char in plain if char in " -_" or unicodedata.category(char)[0] in "LN")
        slug = "".join(kept).replace(" ", "-")
        repeats = sum(1 for other in found if re.fullmatch(re.escape(slug) + r"(-\d+)?", other))
        found.add(f"{slug}-{repeats}" if repeats else slug)
    return found


def broken_links(page: Path) -> Iterator[str]:
    for link in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_every_page_is_reachable_from_the_index() -> None:
    seen, waiting = set[Path](), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = (link.partition("#")[0] for link in LINK.findall(FENCED.sub("", page.read_text("utf-8"))))
        waiting += [(page.parent / link).resolve() for link in links if link and ":" not in link]
    assert set(DOCS.rglob("*.md")) - seen == set()


def test_every_mentioned_page_exists() -> None:
    files = [path for folder in (*CODE, "tests", "templates") for path in (ROOT / folder).rglob("*.*")]
    # The repositories of the tests of sync have pages of their own.
    files = [path for path in files if not {"tests", "sync"} <= set(path.relative_to(ROOT).parts)]
    texts = (path.read_text("utf-8") for path in files if path.suffix in {".py", ".html"})
    # Tests of knowledge have files below docs/ as well, in folders of their own.
    folders = "|".join(folder.name for folder in DOCS.iterdir() if folder.is_dir())
    mentioned = {name for text in texts for name in re.findall(rf"(?<![\w/])docs/(?:{folders})/[\w./-]*\w", text)}
    assert len(mentioned) > 5
    missing = {name for name in mentioned if not (ROOT / name).exists() and not list(ROOT.glob(f"{name}-*.md"))}
    assert missing == set()


# --- pictures -----------------------------------------------------------------------------------------


def test_every_picture_is_light_and_shown() -> None:
    kept = {file.name: file.stat().st_size for file in (DOCS / "pictures").iterdir()}
    shown = {name for page in PAGES for name in re.findall(r"pictures/([\w-]+\.\w+)", page.read_text("utf-8"))}
    assert {name for name, size in kept.items() if size > MAX_BYTES} == set()
    assert set(kept) == shown == {name for picture in PICTURES for name in picture.files}


# --- settings -----------------------------------------------------------------------------------------


def variables(text: str) -> set[str]:
    return set(VARIABLE.findall(text))


def variables_read() -> set[str]:
    readers = [*(ROOT / "memoryhub").glob("*config.py"), *(ROOT / "memoryhub" / "config").glob("*.py")]
    return set().union(*(variables(path.read_text("utf-8")) for path in readers))


def test_the_picture_of_the_rooms_has_every_app() -> None:
    picture = FENCED.search(read("explain", "architecture.md"))
    assert picture is not None
    rooms = {
        name for cells in re.findall(r"^\|.*\|$", picture[0], re.MULTILINE) for name in re.findall(r"\| (\w+)", cells)
    }
    assert {path.parent.name for path in ROOT.glob("apps/*/apps.py")} | {"memoryhub"} <= rooms


def test_the_ways_through_the_rooms_name_what_exists() -> None:
    rows = re.findall(r"^\| [a-z].* \| (.*) \|$", read("explain", "architecture.md"), re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([\w/.]+)`", row)]
    code = "\n".join(path.read_text("utf-8") for path in ROOT.glob("apps/**/*.py"))
    missing = [
        name
        for name in named
        if not any((ROOT / place / f"{name}{end}").exists() for place in ("", "apps") for end in ("", ".py"))
        and not re.search(rf"\b(?:def|class) {name.rpartition('.')[2]}\b|^{name} [:=]", code, re.MULTILINE)
    ]
    assert (len(named) > 40, missing) == (True, [])


def test_every_setting_is_on_configuration_page() -> None:
    read_ones = variables_read()
    assert len(read_ones) > 20
    assert read_ones - variables("\n".join(rows(read("operate", "configuration.md")))) == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_mentioned_setting_is_read(page: Path) -> None:
    clients = (path for place in ("clients", "integrations") for path in (ROOT / place).rglob("*.py"))
    read_by_clients = set().union(*(variables(path.read_text("utf-8")) for path in clients))
    assert variables(page.read_text("utf-8")) - variables_read() - read_by_clients == set()


# --- metrics ------------------------------------------------------------------------------------------


def metrics_in(tree: ast.Module) -> Iterator[str]:
    """Yield the names under which the metrics of a module are exposed."""
    imported = {
        alias.asname or alias.name: CONSTRUCTOR[alias.name]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "prometheus_client"
        for alias in node.names
        if alias.name in CONSTRUCTOR
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in imported:
            name = ast.literal_eval(node.args[0])
            suffix = imported[node.func.id]
            yield name.removesuffix(suffix) + suffix


def test_the_monitoring_page_lists_every_metric() -> None:
    files = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    texts = [text for path in files if "prometheus_client" in (text := path.read_text("utf-8"))]
    defined = {name for text in texts for name in metrics_in(ast.parse(text))}
    assert len(defined) > 40
    page = read("operate", "monitoring.md")
    assert set(METRIC_NAME.findall(page[page.index("## Metrics") :])) == defined


# --- commands -----------------------------------------------------------------------------------------


def own_commands() -> dict[str, str]:
    return {name: app for name, app in get_commands().items() if isinstance(app, str) and app.split(".")[0] in CODE}


def options_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Yield each subcommand, or an empty text, with each long option of it that Django does not add."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                yield name, ""
                yield from ((name, option) for _, option in options_of(sub))
            continue
        yield from (("", option) for option in action.option_strings if option.startswith("--"))


DJANGO_OPTIONS = {
    "--help", "--version", "--verbosity", "--settings", "--pythonpath",
    "--traceback", "--no-color", "--force-color", "--skip-checks",
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_mentioned_command_exists(page: Path) -> None:
    assert set(COMMAND.findall(page.read_text("utf-8"))) - set(get_commands()) == set()


@pytest.mark.parametrize("name", sorted(own_commands()))
def test_every_command_is_documented_with_its_options(name: str) -> None:
    page = read("reference", "commands.md")
    parser = load_command_class(own_commands()[name], name).create_parser("manage.py", name)
    for subcommand, option in {("", ""), *options_of(parser)}:
        words = f"manage.py {name} {subcommand}".strip()
        found = [line for line in page.splitlines() if re.match(rf"\| `{re.escape(words)}(?:[ `])", line)]
        assert found, words
        assert option in DJANGO_OPTIONS | {""} or any(f"`{option}" in line for line in found), f"{words} {option}"


# --- examples -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_imports_of_examples_work(page: Path) -> None:
    for statement in re.findall(r"^from (?:apps|memoryhub)\S* import .*$", page.read_text("utf-8"), re.MULTILINE):
        if "apps.bookmarks" not in statement:  # the example of a new app, which test_layout tries
            exec(statement, {})


def test_the_proxy_example_passes_on_the_address_of_the_client() -> None:
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in read("operate", "security.md")


def test_the_readme_has_its_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert re.findall(r"^uv run .*$", readme, re.MULTILINE) == ["uv run manage.py up", "uv run pytest"]
