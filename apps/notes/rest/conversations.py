"""Conversations over REST, and the runs of extraction that learn from them (spec 001, automatic extraction)."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, refuse_body, validate_query
from apps.core.schemas.paging import Page, page_links
from apps.core.schemas.serializers import Problem, validate
from apps.notes import selectors, services
from apps.notes.schemas import conversations, runs
from apps.notes.schemas.notes import OwnerInput


class SessionsView(HubView):
    """The conversations of a user."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="conversations_list",
        parameters=[conversations.ConversationListInput],
        responses={200: conversations.ConversationPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List the conversations of a user, newest first."""
        data = validate_query(conversations.ConversationListInput, request)
        listed = selectors.conversation_list(self.access, data.get("user_id"))
        page: Page[selectors.Conversation] = Page(listed, self.access, data.get("cursor"), data.get("limit"))
        counts = selectors.new_message_counts(page.rows)
        results = [conversations.conversation_json(each, counts[each.pk]) for each in page.rows]
        return Response({**page_links(page, request), "results": results})


class SessionView(HubView):
    """One conversation."""

    query_methods = frozenset({"GET", "HEAD", "DELETE"})

    @extend_schema(
        operation_id="conversations_retrieve",
        parameters=[OwnerInput],
        responses={200: conversations.ConversationDetailOutput, 404: Problem},
    )
    def get(self, request: Request, session_id: str) -> Response:
        """Show a conversation with its latest messages."""
        data = validate_query(OwnerInput, request)
        found = selectors.conversation_get(self.access, data.get("user_id"), session_id)
        counts, latest = selectors.new_message_counts([found]), selectors.latest_messages(found)
        return Response(conversations.detail_json(found, counts[found.pk], latest))

    @extend_schema(operation_id="conversations_delete", parameters=[OwnerInput], responses={204: None, 404: Problem})
    def delete(self, request: Request, session_id: str) -> Response:
        """Delete a conversation with its messages. What was learnt from it stays, and can be undone."""
        data = validate_query(OwnerInput, request)
        services.session_delete(access=self.access, user_id=data.get("user_id"), session_id=session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionMessagesView(HubView):
    """Takes the messages of a conversation."""

    body_limit = staticmethod(conversations.messages_limit)

    @extend_schema(
        operation_id="conversations_add_messages",
        request=conversations.MessagesInput,
        responses={201: conversations.MessagesOutput, 200: conversations.MessagesOutput, 409: Problem},
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Add messages to a conversation, in their order. The first ones create it."""
        data = validate(conversations.MessagesInput, request.data)
        conversation, added = services.messages_add(
            access=self.access,
            user_id=data.get("user_id"),
            session_id=session_id,
            drafts=conversations.message_drafts(data),
            recalled=data.get("recalled", ()),
        )
        count = selectors.new_message_counts([conversation])[conversation.pk]
        code = status.HTTP_201_CREATED if any(each.is_new for each in added) else status.HTTP_200_OK
        results = [conversations.added_json(each) for each in added]
        return Response(
            {"conversation": conversations.conversation_json(conversation, count), "results": results}, status=code
        )


class SessionEventsView(HubView):
    """Takes the events of a conversation."""

    @extend_schema(
        operation_id="conversations_add_event",
        request=conversations.SessionEventInput,
        responses={200: conversations.SessionEventOutput},
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Report what happened to a conversation: facts are extracted in the background when it is time.

        After `stream:idle` unless the last extraction was a moment ago or too few messages are new; after `session.end`
        from what is left; once in each cycle of compaction when the context is nearly full or about to be compacted.
        """
        data = validate(conversations.SessionEventInput, request.data)
        answer = services.event_add(
            access=self.access,
            user_id=data.get("user_id"),
            session_id=session_id,
            event=conversations.event_draft(data),
        )
        count = selectors.new_message_counts([answer.conversation])[answer.conversation.pk]
        return Response(conversations.event_json(answer, count))


class RunsView(HubView):
    """The runs of extraction of a user."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="extraction_runs_list",
        parameters=[runs.RunListInput],
        responses={200: runs.RunPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List the extraction runs of a user, newest first."""
        data = validate_query(runs.RunListInput, request)
        filters = {name: data[name] for name in ("session_id", "state") if name in data}
        listed = selectors.run_list(self.access, data.get("user_id"), filters)
        page: Page[selectors.ExtractionRun] = Page(listed, self.access, data.get("cursor"), data.get("limit"))
        return Response({**page_links(page, request), "results": [runs.run_json(run) for run in page.rows]})


class RunView(HubView):
    """One run of extraction."""

    @extend_schema(operation_id="extraction_runs_retrieve", responses={200: runs.RunDetailOutput, 404: Problem})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a run: what came in, what each step decided and why, and what was written."""
        run = selectors.run_get(self.access, uuid)
        return Response(runs.run_detail_json(run, selectors.run_facts(run)))


class FactUndoView(HubView):
    """Takes back a fact."""

    @extend_schema(
        operation_id="extracted_facts_undo",
        request=None,
        responses={200: runs.FactOutput, 404: Problem, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Take back a fact: its line in MEMORY.md, unless a person has changed it, and its memory.

        Undoing it once more changes nothing.
        """
        refuse_body(request)
        return Response(runs.fact_json(services.fact_undo(access=self.access, uuid=uuid)))


class AutoMemoryStatusView(HubView):
    """How automatic memory is doing."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="auto_memory_status",
        parameters=[OwnerInput],
        responses={200: runs.AutoMemoryOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """Show a user's settings of automatic memory, what is waiting, and what was learnt."""
        data = validate_query(OwnerInput, request)
        return Response(runs.status_json(selectors.auto_memory_status(self.access, data.get("user_id"))))


class CompactView(HubView):
    """Asks for a compaction."""

    @extend_schema(operation_id="notes_compact", request=runs.CompactInput, responses={202: runs.CompactionOutput})
    def post(self, request: Request) -> Response:
        """Have a model draft a shorter MEMORY.md in the background; if one is in progress, return that one.

        It runs whether `llmCompactionEnabled` is on or off.
        """
        data = validate(runs.CompactInput, request.data)
        asked = services.compaction_create(access=self.access, user_id=data.get("user_id"))
        return Response(runs.compaction_json(asked), status=status.HTTP_202_ACCEPTED)


class CompactionsView(HubView):
    """The compactions of a user."""

    query_methods = frozenset({"GET", "HEAD"})

    @extend_schema(
        operation_id="notes_compactions_list",
        parameters=[runs.CompactionListInput],
        responses={200: runs.CompactionPageOutput, 404: Problem},
    )
    def get(self, request: Request) -> Response:
        """List the compactions of MEMORY.md, newest first."""
        data = validate_query(runs.CompactionListInput, request)
        listed = selectors.compaction_list(self.access, data.get("user_id"))
        page: Page[selectors.Compaction] = Page(listed, self.access, data.get("cursor"), data.get("limit"))
        results = [runs.compaction_json(each) for each in page.rows]
        return Response({**page_links(page, request), "results": results})


class CompactionView(HubView):
    """One compaction."""

    @extend_schema(operation_id="notes_compactions_retrieve", responses={200: runs.CompactionDetailOutput})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Show a compaction with its draft, what that changes, and what became of each fact."""
        found = selectors.compaction_get(self.access, uuid)
        return Response(runs.compaction_detail_json(selectors.compaction_detail(found)))


class CompactionApplyView(HubView):
    """Applies a draft."""

    @extend_schema(
        operation_id="notes_compactions_apply",
        request=None,
        responses={200: runs.CompactionOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Make a draft the text of MEMORY.md; what was there stays as a version.

        409 `compaction_stale` if MEMORY.md has changed since the draft was made: ask for a new one.
        """
        return Response(runs.compaction_json(services.compaction_apply(access=self.access, uuid=uuid)))


class CompactionDiscardView(HubView):
    """Discards a draft."""

    @extend_schema(
        operation_id="notes_compactions_discard",
        request=None,
        responses={200: runs.CompactionOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Discard a draft; it can still be read."""
        return Response(runs.compaction_json(services.compaction_discard(access=self.access, uuid=uuid)))


class CompactionUndoView(HubView):
    """Undoes an applied draft."""

    @extend_schema(
        operation_id="notes_compactions_undo",
        request=None,
        responses={200: runs.CompactionOutput, 409: Problem},
    )
    def post(self, request: Request, uuid: UUID) -> Response:
        """Bring back the text that MEMORY.md had before.

        409 `changed_since` if it has changed since; `current` is the version to restore instead.
        """
        return Response(runs.compaction_json(services.compaction_undo(access=self.access, uuid=uuid)))
