"""The door of `people` for writes."""

from apps.people.connecting import (
    connection_answer,
    connection_fetch,
    connection_find,
    connection_request,
    connections_trim,
    show_user_code,
)
from apps.people.downloads.request import download_remove, download_request
from apps.people.erasure.request import erasure_preview, erasure_request, user_digest
from apps.people.erasure.run import erasure_run
from apps.people.learnt import forgettings_continue, learnt_counts, learnt_forget, learnt_restore
from apps.people.leaving import erasure_plan, plan_take_back
from apps.people.looking import look_begin, look_end, look_note
from apps.people.memberships import MembershipReview, memberships_review
