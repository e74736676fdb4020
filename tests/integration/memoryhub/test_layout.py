"""The smallest app of docs/contribute/layout.md is one: it keeps every contract, and its rows behind keys."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

PROJECT = Path(settings.BASE_DIR)
PAGE = (PROJECT / "docs" / "contribute" / "layout.md").read_text("utf-8")
TRIAL = """
import django
django.setup()
from django.db import connection
from django.test.utils import setup_test_environment
from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.services import key_create
from rest_framework.test import APIClient
from django.db import transaction

setup_test_environment()
with transaction.atomic():
    with connection.schema_editor() as editor:
        from apps.bookmarks.models import Bookmark
        editor.create_model(Bookmark)
    ana, ben = (
        key_create(name=name, scope=Scope(user_id=name), permission=Permission.WRITE, actor="test")[1]
        for name in ("ana", "ben")
    )
    def call(key, method, data=None):
        client = APIClient(HTTP_AUTHORIZATION=f"Bearer {key}", HTTP_HOST="localhost")
        return getattr(client, method)("/api/bookmarks", data, format="json" if data else None)
    assert call(ana, "post", {"url": "https://example.org"}).status_code == 201
    assert call(ana, "post", {"url": "https://example.org", "more": 1}).status_code == 400
    assert len(call(ana, "get").json()["results"]) == 1
    assert call(ben, "get").json()["results"] == []
    assert call(ben, "post", {"url": "x", "user_id": "ana"}).status_code in (403, 404)
    transaction.set_rollback(True)
from drf_spectacular.generators import SchemaGenerator

documented = SchemaGenerator().get_schema(request=None, public=True)["paths"]["/api/bookmarks"]
assert {one["summary"] for one in documented.values()} == {"Save a bookmark", "List bookmarks"}
print("kept apart")
"""


@pytest.fixture
def project(make_place) -> Path:
    """A copy of the code with the app of the page, wired as the page says."""
    place = make_place()
    for name in ("apps", "memoryhub", "benchmarks", "templates", "static", "docs"):
        shutil.copytree(PROJECT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    (place / "tests").mkdir()
    shutil.copy(PROJECT / "tests" / "contracts.py", place / "tests")
    for name, code in re.findall(r"```(?:python|yaml)\n# (apps/bookmarks/\S+)\n(.*?)```", PAGE, re.DOTALL):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (path.parent, place / "apps" / "bookmarks"):
            (folder / "__init__.py").touch()
        path.write_text(code)
    replace(PROJECT / "pyproject.toml", place / "pyproject.toml", '"sync | notes', '"bookmarks | sync | notes')
    urls = re.search(r'`(path\("api/", include\("apps.bookmarks.+?\)\))`', PAGE)
    assert urls
    replace_in(place / "memoryhub" / "urls.py", "urlpatterns = [", f"urlpatterns = [\n    {urls[1]},")
    section = re.search(r'`(Section\("Bookmarks".+?\)\))`', PAGE)
    assert section
    replace_in(place / "memoryhub" / "config" / "api.py", "SECTIONS = (", f"SECTIONS = (\n    {section[1]},")
    replace_in(place / "memoryhub" / "settings.py", '"apps.semantic",', '"apps.semantic",\n    "apps.bookmarks",')
    return place


def replace(source: Path, target: Path, old: str, new: str) -> None:
    text = source.read_text()
    assert text.count(old) == 1, old
    target.write_text(text.replace(old, new))


def replace_in(path: Path, old: str, new: str) -> None:
    replace(path, path, old, new)


def run(place: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=place, capture_output=True, text=True, timeout=120, check=False, env=os.environ
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_smallest_app_keeps_every_contract(project: Path) -> None:
    run(project, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache")


def test_the_smallest_app_keeps_rows_behind_keys(project: Path, transactional_db: None) -> None:
    run(project, "-m", "django", "makemigrations", "bookmarks", "--dry-run")
    name = settings.DATABASES["default"]["NAME"]
    code = f"from django.conf import settings; settings.DATABASES['default']['NAME'] = {name!r}\n{TRIAL}"
    assert "kept apart" in run(project, "-c", code)
