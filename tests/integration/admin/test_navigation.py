"""The navigation of the admin has everything once, and *Access* is one place."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client, RequestFactory

from memoryhub.admin.navigation import sidebar

pytestmark = pytest.mark.django_db
PLACES = ["API keys", "People who sign in", "Invitations", "Memberships", "Names of households", "Roles"]


@pytest.fixture
def owner() -> User:
    return User.objects.create_superuser("rita")


def test_no_name_stands_twice_and_lists_are_below_data(owner: User) -> None:
    request = RequestFactory().get("/admin/")
    request.user = owner
    pages, lists = sidebar(request)
    assert lists["title"] == "Data"
    names = [str(item["title"]) for item in (*pages["items"], *lists["items"])]
    assert sorted(set(names)) == sorted(names)
    assert {"Timeline", "Models", "Access"} <= {str(item["title"]) for item in pages["items"]}
    assert not set(names) & set(PLACES)


def test_access_is_one_place_with_one_name_for_each(owner: User, client: Client) -> None:
    client.force_login(owner)
    for address in ("/admin/access/", "/admin/access/invitations/", "/admin/auth/user/", "/admin/auth/group/"):
        page = client.get(address)
        assert [str(one["title"]) for one in page.context["tab_list"][0]["items"]] == PLACES
        assert [one["link"] for one in page.context["tab_list"][0]["items"] if one["active"]] == [address]
        assert 'id="tabs-wrapper"' in page.content.decode()


def test_who_may_see_no_keys_is_led_to_the_first_place_of_access(client: Client) -> None:
    viewer = User.objects.create_user("vera", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename="view_group"))
    request = RequestFactory().get("/admin/")
    request.user = viewer
    items = {str(item["title"]): item for item in sidebar(request)[0]["items"]}
    assert items["Access"]["link"] == "/admin/auth/group/"
    assert items["Access"]["permission"](request)
    assert admin.site.get_sidebar_list(request)


def test_a_page_works_out_no_list_of_apps_that_it_does_not_show(
    owner: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(owner)
    assert client.get("/admin/semantic/").status_code == 200
    assert client.get("/admin/nothing/").status_code == 404

    def refuse(*_: object) -> None:
        raise AssertionError("the sidebar has a list of its own")

    monkeypatch.setattr(admin.site, "_build_app_dict", refuse)
    assert client.get("/admin/semantic/memory/").status_code == 200
