"""The stores of what people asks for and keeps about them: erasures, downloads, plans and looks."""

from collections.abc import Iterator

from apps.core.personal.registry import register_stores
from apps.core.personal.store import PersonalStore, UserTable
from apps.core.steps import Step, no_step
from apps.people.downloads.request import DOWNLOADS
from apps.people.models import AppForgetting, ConnectionRequest, Download, Erasure, Look, PlannedErasure


class ErasureStore(PersonalStore):
    """The records of erasures. One holds an id only while it is open, and clears it with its last step."""

    name = "erasures"
    order = 100
    models = (Erasure,)

    def count(self, user_id: str) -> int:
        return 0

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        return iter(())

    def find(self, user_id: str) -> Iterator[str]:
        return iter(())


class DownloadStore(UserTable):
    """Files that a person had made of everything. They are copies of what is exported, and not exported themselves."""

    name = "downloads"
    order = 102
    models = (Download,)

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Remove the files first, so that a killed process leaves no file without a row."""
        for download in Download.objects.filter(user_id=user_id):
            DOWNLOADS.remove(download.uuid)
            step("download files")
            download.delete()
            yield 1
        DOWNLOADS.remove_strays()

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where one is left. A file of no row may be of anyone."""
        yield from super().find(user_id)
        yield from (f"downloads/{name}" for name in DOWNLOADS.strays())


class PlanStore(UserTable):
    """What people have asked to be forgotten. Another hub would do it unasked, so that it is not exported."""

    name = "planned_erasures"
    order = 101
    models = (PlannedErasure,)


class LookStore(UserTable):
    """Looks of operators at the pages of a person. Their entries in the audit are exported, which say more."""

    name = "looks"
    order = 103
    models = (Look,)


class AppStore(UserTable):
    """Forgettings of what keys learnt, and apps that a person has confirmed and that have not fetched their key.

    They are not exported: both are about keys, which are not.
    """

    name = "apps"
    order = 94
    models = (AppForgetting, ConnectionRequest)


register_stores((ErasureStore(), DownloadStore(), PlanStore(), LookStore(), AppStore()))
