"""Chat models behind Anthropic's wire format."""

import logging
from collections.abc import Generator, Mapping
from types import ModuleType
from typing import Any, ClassVar

import anthropic
import httpx2

from apps.llm.domain.chat import MAX_MODELS, ChatRequest, FinishReason
from apps.llm.providers.answers import AnswerDelta, model_name, token_count
from apps.llm.providers.sdk_chat import SdkChat

ANTHROPIC_BASE_URL = "https://api.anthropic.com"
CACHE_COUNTS = ("cache_creation_input_tokens", "cache_read_input_tokens")
FINISH_REASONS: Mapping[str, FinishReason] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.FILTERED,
}

# At DEBUG the SDK logs whole requests, and these hold what people said.
logging.getLogger("anthropic._base_client").setLevel(logging.INFO)


class AnthropicChat(SdkChat[anthropic.Anthropic]):
    """A ChatProvider for one model behind `/v1/messages`; base_url is what comes before that.

    A request's temperature is not sent: since its version of 2026-10-21 the API refuses any, and the SDK knows none.
    JSON is asked for in words only, because the API's JSON mode wants a schema.
    """

    sdk: ClassVar[ModuleType] = anthropic
    sdk_error: ClassVar[type[Exception]] = anthropic.AnthropicError

    def new_client(self, http: httpx2.Client) -> anthropic.Anthropic:
        key = self.endpoint.key
        return anthropic.Anthropic(
            api_key=key,
            base_url=self.endpoint.base_url or ANTHROPIC_BASE_URL,
            max_retries=0,
            http_client=http,
            default_headers={"Authorization": f"Bearer {key}"},  # before one of ANTHROPIC_CUSTOM_HEADERS
            open_telemetry=False,
        )

    def stream_deltas(
        self, client: anthropic.Anthropic, request: ChatRequest, timeout: httpx2.Timeout
    ) -> Generator[AnswerDelta, None, None]:
        with client.messages.create(**self._parameters(request), stream=True, timeout=timeout) as events:
            for event in events:
                yield parse_event(event)

    def ask_whole(self, client: anthropic.Anthropic, request: ChatRequest, timeout: httpx2.Timeout) -> AnswerDelta:
        answer: Any = client.messages.create(**self._parameters(request), timeout=timeout)
        blocks = [block.text for block in answer.content if block.type == "text"]
        return AnswerDelta(
            "".join(blocks),
            finish_reason(answer.stop_reason) or FinishReason.OTHER,
            input_tokens=count_input(answer.usage),
            output_tokens=token_count(answer.usage, "output_tokens"),
            model=model_name(answer),
        )

    def list_first_page(self, client: anthropic.Anthropic, timeout: httpx2.Timeout) -> Any:
        return client.models.list(limit=MAX_MODELS, timeout=timeout)

    def _parameters(self, request: ChatRequest) -> dict[str, Any]:
        messages = [{"role": message.role.value, "content": message.content} for message in request.messages]
        asked = {"model": request.model or self.model, "messages": messages, "max_tokens": request.max_tokens}
        return asked | ({"system": request.instructions} if request.instructions else {})


def parse_event(event: Any) -> AnswerDelta:
    """Return what an event adds. Other blocks than text, such as the model's thinking, are no part of the answer."""
    match getattr(event, "type", None):
        case "message_start":
            # It counts output too, but only what there is so far.
            return AnswerDelta(input_tokens=count_input(event.message.usage), model=model_name(event.message))
        case "content_block_start":
            return AnswerDelta(part_text(event.content_block, "text"))
        case "content_block_delta":
            return AnswerDelta(part_text(event.delta, "text_delta"))
        case "message_delta":
            return AnswerDelta(
                finish=finish_reason(event.delta.stop_reason), output_tokens=token_count(event.usage, "output_tokens")
            )
        case _:
            return AnswerDelta()


def part_text(part: Any, kind: str) -> str:
    text = getattr(part, "text", None) if getattr(part, "type", None) == kind else None
    return text if isinstance(text, str) else ""


def finish_reason(reason: object) -> FinishReason | None:
    return FINISH_REASONS.get(str(reason), FinishReason.OTHER) if reason else None


def count_input(usage: Any) -> int | None:
    """Return all tokens that were read: those that came from, or went into, the provider's cache are counted apart."""
    read = token_count(usage, "input_tokens")
    if read is None:
        return None
    return read + sum(token_count(usage, name) or 0 for name in CACHE_COUNTS)
