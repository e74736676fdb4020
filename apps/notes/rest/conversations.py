"""Conversations over REST: what a chat application sends (spec 001, automatic extraction)."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.core.rest.views import HubView, operation
from apps.core.schemas.paging import Page, page_output
from apps.notes import selectors, services
from apps.notes.schemas import conversations
from apps.notes.schemas.notes import OwnerInput


class SessionsView(HubView):
    """The conversations of a user."""

    @operation(
        "conversations_list",
        query=conversations.ConversationListInput,
        answer=page_output(conversations.ConversationOutput, "conversations"),
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """List the conversations of a user, newest first."""
        data = self.read_query()
        listed = selectors.conversation_list(self.access, data.get("user_id"))
        page: Page[selectors.Conversation] = Page(listed, self.access, data.get("cursor"), data.get("limit"))
        counts = selectors.new_message_counts(page.rows)
        results = [conversations.conversation_json(each, counts[each.pk]) for each in page.rows]
        return self.answer_page(page, results)


class SessionView(HubView):
    """One conversation."""

    @operation("conversations_retrieve", query=OwnerInput, answer=conversations.ConversationDetailOutput, errors=(404,))
    def get(self, request: Request, session_id: str) -> Response:
        """Show a conversation with its latest messages."""
        data = self.read_query()
        found = selectors.conversation_get(self.access, data.get("user_id"), session_id)
        counts, latest = selectors.new_message_counts([found]), selectors.latest_messages(found)
        return Response(conversations.detail_json(found, counts[found.pk], latest))

    @operation("conversations_delete", query=OwnerInput, answer={204: None}, errors=(404,))
    def delete(self, request: Request, session_id: str) -> Response:
        """Delete a conversation with its messages. What was learnt from it stays, and can be undone."""
        data = self.read_query()
        services.session_delete(access=self.access, user_id=data.get("user_id"), session_id=session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionMessagesView(HubView):
    """Takes the messages of a conversation."""

    body_limit = staticmethod(conversations.messages_limit)

    @operation(
        "conversations_add_messages",
        body=conversations.MessagesInput,
        answer={201: conversations.MessagesOutput, 200: conversations.MessagesOutput},
        errors=(409,),
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Add messages to a conversation, in their order. The first ones create it."""
        data = self.read_body()
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

    @operation("conversations_add_event", body=conversations.SessionEventInput, answer=conversations.SessionEventOutput)
    def post(self, request: Request, session_id: str) -> Response:
        """Report what happened to a conversation: facts are extracted in the background when it is time.

        After `stream:idle` unless the last extraction was a moment ago or too few messages are new; after `session.end`
        from what is left; once in each cycle of compaction when the context is nearly full or about to be compacted.
        """
        data = self.read_body()
        answer = services.event_add(
            access=self.access,
            user_id=data.get("user_id"),
            session_id=session_id,
            event=conversations.event_draft(data),
        )
        count = selectors.new_message_counts([answer.conversation])[answer.conversation.pk]
        return Response(conversations.event_json(answer, count))
