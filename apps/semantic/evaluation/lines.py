"""Questions of operators as lines of a file that `manage.py evaluate` reads (docs/reference/file-formats.md)."""

import json
from collections.abc import Collection
from uuid import UUID

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access
from apps.semantic.evaluation.run import evidence_key
from apps.semantic.models import Memory

MAX_EVIDENCE = 100
CATEGORY = "asked in the admin"


def question_line(access: Access, question: str, evidence: Collection[UUID]) -> str:
    """Return a question as one line of JSON, with the memories of the caller's that answer it.

    Raises InvalidInputError unless these are active memories of one user.
    """
    chosen = Memory.objects.visible_to(access).active().filter(uuid__in=list(evidence)[:MAX_EVIDENCE]).order_by("pk")
    rows = list(chosen.values_list("user_id", "uuid", "metadata"))
    if not rows:
        raise InvalidInputError("Choose at least one active memory that answers the question.", attr="evidence")
    if len({user for user, _, _ in rows}) > 1:
        raise InvalidInputError("Choose memories of one user: an evaluation asks about one.", attr="evidence")
    keys = [evidence_key(uuid, metadata) for _, uuid, metadata in rows]
    line = {"user_id": rows[0][0], "question": question, "evidence": keys, "category": CATEGORY}
    return json.dumps(line, ensure_ascii=False) + "\n"
