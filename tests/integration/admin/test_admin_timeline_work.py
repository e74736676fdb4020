"""What a person has done about segments in the admin: asked for, done in the background, and seen."""

from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags
from django_q.models import OrmQ, Task

from apps.audit.models import AuditEntry
from apps.episodic.admin.segment_jobs import FITTING
from apps.episodic.maintenance.jobs import TASK
from apps.episodic.models import Segment, TimelineWarning
from tests.integration.admin import timeline
from tests.integration.admin.pages import address, run, text_of
from tests.integration.episodic.upkeep import a_sealed_segment, an_archived_segment, record, states
from tests.integration.episodic.workers import work_off

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

LIST = address(Segment, "changelist")
POLLS = 'hx-trigger="every 2s"'
WHOLE = ("seal_all", "compact_small", "check_all", "repair_all")
ON_PAGE = ("seal_this", "verify_this", "repair_from_page")


def words_of(response: HttpResponse) -> str:
    assert response.status_code == 200
    return " ".join(unescape(strip_tags(response.content.decode())).split())


def of_all(name: str) -> str:
    return reverse(f"admin:episodic_segment_{name}")


def of_one(name: str, segment: Segment) -> str:
    return reverse(f"admin:episodic_segment_{name}", args=[segment.pk])


def confirm(client: Client, url: str) -> Any:
    """Confirm the dialog of a button; return the page of the run."""
    return client.post(url, {"_form_submitted": "True"}, follow=True)


def offered(client: Client, segment: Segment) -> set[str]:
    """The buttons on the page of a segment."""
    text = text_of(client, address(Segment, "change", segment.pk))
    return {name for name in ("inside", *ON_PAGE) if f'"{of_one(name, segment)}"' in text}


def waiting() -> list[dict[str, Any]]:
    return [entry.task["kwargs"] for entry in OrmQ.objects.all() if entry.func() == TASK]


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("open", {"seal_this"}),
        ("sealing", {"seal_this"}),
        ("sealed", {"inside", "verify_this"}),
        ("archived", {"inside", "verify_this"}),
        ("quarantined", {"verify_this", "repair_from_page"}),
        ("compacted", set()),
        ("pruned", set()),
    ],
)
def test_segment_is_offered_what_makes_sense_in_its_state(operator: Client, state: str, names: set[str]) -> None:
    assert offered(operator, timeline.segment(state)) == names
    assert names <= FITTING.keys()


@pytest.mark.parametrize("name", WHOLE)
def test_opening_a_dialog_asks_for_nothing(operator: Client, name: str) -> None:
    assert 'type="submit"' in text_of(operator, of_all(name))
    assert waiting() == []


def test_open_segment_is_closed_and_sealed_in_background(operator: Client) -> None:
    record(range(5))
    segment = Segment.objects.get()
    response = confirm(operator, of_one("seal_this", segment))
    assert "Waiting for a worker" in words_of(response)
    assert POLLS in response.content.decode()
    assert states() == ["open"]
    work_off()
    page = text_of(operator, response.request["PATH_INFO"])
    assert "Closing and sealing: done" in page
    assert "Sealed: 5 events" in page
    assert POLLS not in page
    assert address(Segment, "change", segment.pk) in page
    assert states() == ["sealed", "open"]
    assert AuditEntry.objects.latest("pk").detail["said"] == "Sealing requested."


def test_segments_are_verified_from_the_list(operator: Client) -> None:
    segments = [a_sealed_segment([number]) for number in range(3)]
    response: Any = run(operator, "verify_chosen", segments)
    [task] = waiting()
    assert task["segment_ids"] == sorted((segment.pk for segment in segments), reverse=True)
    work_off(1)
    path = response.request["PATH_INFO"]
    assert "2 segments left." in words_of(operator.get(path))
    work_off()
    assert words_of(operator.get(path)).count("Sound: 1 event,") == 3


def test_damaged_file_is_marked_and_leads_to_its_segment(operator: Client, timeline_dir: Path) -> None:
    segment = an_archived_segment(range(5))
    (timeline_dir / segment.file_name).write_bytes(b"nothing")
    response = confirm(operator, of_one("verify_this", segment))
    work_off()
    page = text_of(operator, response.request["PATH_INFO"])
    assert "wrong" in page
    assert "Damaged: " in page
    assert address(Segment, "change", segment.pk) in page
    assert TimelineWarning.objects.get().segment == segment


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("seal_all", "Closing and sealing: done"),
        ("compact_small", "Merging small segments: done"),
        ("check_all", "Checking the timeline: done"),
        ("repair_all", "Repairing the timeline: done"),
    ],
)
def test_work_on_whole_timeline_is_shown_when_it_is_done(operator: Client, name: str, heading: str) -> None:
    response = confirm(operator, of_all(name))
    assert len(waiting()) == 1
    work_off()
    assert heading in text_of(operator, response.request["PATH_INFO"])


def test_check_that_finds_something_leads_to_repairing(operator: Client, timeline_dir: Path) -> None:
    path = confirm(operator, of_all("check_all")).request["PATH_INFO"]
    work_off()
    assert "The Repair button above the list" not in text_of(operator, path)
    (timeline_dir / "notes.txt").write_text("hello")
    path = confirm(operator, of_all("check_all")).request["PATH_INFO"]
    work_off()
    text = text_of(operator, path)
    assert "notes.txt" in text
    assert "The Repair button above the list" in text


def test_what_files_are_called_is_escaped(operator: Client, timeline_dir: Path) -> None:
    timeline_dir.mkdir(exist_ok=True)
    (timeline_dir / "<script>alert(1)").write_text("hello")
    path = confirm(operator, of_all("check_all")).request["PATH_INFO"]
    work_off()
    text = text_of(operator, path)
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_run_that_failed_says_so(operator: Client) -> None:
    path = confirm(operator, of_all("check_all")).request["PATH_INFO"]
    work_off()
    Task.objects.update(success=False, result="OSError")
    text = text_of(operator, path)
    assert "stopped before it finished" in text
    assert POLLS not in text


def test_from_dialog_browser_is_sent_to_run(operator: Client) -> None:
    response = operator.post(of_all("check_all"), {"_form_submitted": "True"}, headers={"HX-Request": "true"})
    assert response.headers["HX-Redirect"].startswith("/admin/episodic/segment/run/")


def test_who_may_only_look_has_nothing_done(staff: Callable[..., Client]) -> None:
    segment = a_sealed_segment(range(2))
    client = staff("view_segment", "view_timelineevent")
    assert offered(client, segment) == {"inside"}
    for url in (*map(of_all, WHOLE), *(of_one(name, segment) for name in ON_PAGE)):
        assert client.post(url, {"_form_submitted": "True"}).status_code == 403
    run(client, "verify_chosen", [segment])
    assert waiting() == []


def test_who_may_not_look_sees_no_run(staff: Callable[..., Client]) -> None:
    url = reverse("admin:episodic_segment_run", args=[uuid4()])
    assert staff("view_timelineevent").get(url).status_code == 403


# Looking inside


def test_a_file_is_leafed_through(operator: Client) -> None:
    segment = an_archived_segment(range(120))
    first = operator.get(of_one("inside", segment))
    text = words_of(first)
    assert "Page 1 of 3" in text
    assert "120 events; " in text
    assert [row["event"].content for row in first.context["rows"]][:2] == ["event 0", "event 3"]
    last = operator.get(of_one("inside", segment), {"page": "3"})
    assert [row["event"].content for row in last.context["rows"]][-1] == "event 119"
    assert 'rel="next"' not in last.content.decode()
    assert '<ol class="mh-events" start="101">' in last.content.decode()


@pytest.mark.parametrize("page", ["0", "-1", "99", "x", "²", "9" * 30, "\x00"])
def test_there_is_always_a_page(operator: Client, page: str) -> None:
    segment = an_archived_segment(range(3))
    assert "Page 1 of 1" in words_of(operator.get(of_one("inside", segment), {"page": page}))


def test_page_of_archived_segment_leads_into_its_file(operator: Client) -> None:
    segment = an_archived_segment(range(3))
    assert f'href="{of_one("inside", segment)}">3</a>' in text_of(operator, address(Segment, "change", segment.pk))


def test_reading_damaged_file_takes_it_out_of_service(operator: Client, timeline_dir: Path) -> None:
    segment = an_archived_segment(range(3))
    (timeline_dir / segment.file_name).unlink()
    assert "It was taken out of service." in words_of(operator.get(of_one("inside", segment)))
    assert states() == ["quarantined", "open"]
    assert "it has no file to read" in words_of(operator.get(of_one("inside", segment)))


def test_what_events_in_a_file_say_is_escaped(operator: Client) -> None:
    segment = an_archived_segment([1], content="<script>alert(1)</script>")
    text = text_of(operator, of_one("inside", segment))
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_who_may_not_see_events_does_not_look_inside(staff: Callable[..., Client]) -> None:
    segment = a_sealed_segment(range(2))
    client = staff("view_segment")
    assert offered(client, segment) == set()
    assert client.get(of_one("inside", segment)).status_code == 403
