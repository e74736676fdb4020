"""Chat models behind OpenAI's wire format: OpenAI itself, vLLM, Ollama, LM Studio and many more.

Servers differ in what they accept, and say so with a 400 that names the parameter. The request is sent again without
such a parameter; if that helps, it is left out from then on.
"""

import logging
import re
from collections.abc import Generator, Mapping
from types import ModuleType
from typing import Any, ClassVar

import httpx2
import openai

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm.domain.chat import ChatRequest, FinishReason
from apps.llm.providers.answers import AnswerDelta, model_name, token_count
from apps.llm.providers.endpoint import Endpoint
from apps.llm.providers.sdk_chat import SdkChat

OPENAI_BASE_URL = "https://api.openai.com/v1"
OLD_LIMIT = "max_tokens"
NEW_LIMIT = "max_completion_tokens"
OPTIONAL_PARAMETERS = ("response_format", "stream_options", "temperature")
FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
}

logger = logging.getLogger(__name__)
# At DEBUG the SDK logs whole requests, and these hold what people said.
logging.getLogger("openai._base_client").setLevel(logging.INFO)


class OpenAIChat(SdkChat[openai.OpenAI]):
    """A ChatProvider for one model behind `/chat/completions`; base_url is what comes before that.

    OpenAI's models accept `max_completion_tokens`, and some of them `max_tokens` no longer; every other server knows
    the latter (Ollama ignores the former, and would answer without a limit).
    """

    sdk: ClassVar[ModuleType] = openai
    sdk_error: ClassVar[type[Exception]] = openai.OpenAIError

    def __init__(self, endpoint: Endpoint, *, clock: Clock = SYSTEM_CLOCK) -> None:
        super().__init__(endpoint, clock=clock)
        self._always_refused = frozenset() if endpoint.base_url else frozenset({OLD_LIMIT})
        self._refused: dict[str, frozenset[str]] = {}

    def new_client(self, http: httpx2.Client) -> openai.OpenAI:
        key = self.endpoint.key
        client = openai.OpenAI(
            api_key=key,
            base_url=self.endpoint.base_url or OPENAI_BASE_URL,
            max_retries=0,
            http_client=http,
            default_headers={"Authorization": f"Bearer {key}"},  # before one of OPENAI_CUSTOM_HEADERS
        )
        # What the SDK took from its own environment variables belongs to another account than the key.
        client.organization = client.project = client.admin_api_key = None
        return client

    def stream_deltas(
        self, client: openai.OpenAI, request: ChatRequest, timeout: httpx2.Timeout
    ) -> Generator[AnswerDelta, None, None]:
        with self.ask_until_accepted(client, request, timeout, stream=True) as events:
            for event in events:
                yield parse_event(event)

    def ask_whole(self, client: openai.OpenAI, request: ChatRequest, timeout: httpx2.Timeout) -> AnswerDelta:
        answer = self.ask_until_accepted(client, request, timeout, stream=False)
        choice = answer.choices[0]
        text = choice.message.content or ""
        if not isinstance(text, str):
            raise TypeError("The content of the answer is not text.")
        return build_delta(answer, text, finish_reason(choice) or FinishReason.OTHER)

    def list_first_page(self, client: openai.OpenAI, timeout: httpx2.Timeout) -> Any:
        return client.models.list(timeout=timeout)

    def ask_until_accepted(
        self, client: openai.OpenAI, request: ChatRequest, timeout: httpx2.Timeout, *, stream: bool
    ) -> Any:
        """Ask, again without the parameters that the server refuses; what helped is remembered for the model."""
        model = request.model or self.model
        known = refused = self._refused.get(model, self._always_refused)
        while True:
            parameters = build_parameters(request, model, refused, stream=stream)
            try:
                answer = client.chat.completions.create(**parameters, timeout=timeout)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                more = find_refused(error, parameters)
                if not more:
                    raise
                refused |= more
                continue
            if refused != known:
                self._refused[model] = refused
                left_out = ", ".join(sorted(refused - known))
                logger.info("%s does not take %s for %s: left out from now on", self.name, left_out, model)
            return answer


def build_parameters(request: ChatRequest, model: str, refused: frozenset[str], *, stream: bool) -> dict[str, Any]:
    messages = [{"role": message.role.value, "content": message.content} for message in request.messages]
    if request.instructions:
        messages.insert(0, {"role": "system", "content": request.instructions})
    limit = NEW_LIMIT if OLD_LIMIT in refused else OLD_LIMIT
    optional: dict[str, Any] = {
        "temperature": request.temperature,
        "response_format": {"type": "json_object"} if request.expects_json else None,
        "stream_options": {"include_usage": True} if stream else None,
    }
    wanted = {name: value for name, value in optional.items() if value is not None and name not in refused}
    return {"model": model, "messages": messages, limit: request.max_tokens, "stream": stream, **wanted}


def find_refused(error: openai.APIStatusError, parameters: Mapping[str, Any]) -> frozenset[str]:
    """Return which parameters a refusal names, of those that can be left out or sent in another way."""
    body = error.body
    said = f"{body.get('param')} {body.get('message')}" if isinstance(body, Mapping) else str(body)
    words = frozenset(re.findall(r"\w+", said))
    named = words.intersection(OPTIONAL_PARAMETERS, parameters)
    return named | {OLD_LIMIT} if NEW_LIMIT in words and OLD_LIMIT in parameters else named


def parse_event(event: Any) -> AnswerDelta:
    """Return what an event adds. The last one has the usage and no choices; some servers send others without any."""
    choices = getattr(event, "choices", None)
    if not isinstance(choices, list) or not choices:
        return build_delta(event, "", None)
    text = getattr(getattr(choices[0], "delta", None), "content", None)
    return build_delta(event, text if isinstance(text, str) else "", finish_reason(choices[0]))


def finish_reason(choice: Any) -> FinishReason | None:
    reason = getattr(choice, "finish_reason", None)
    return FINISH_REASONS.get(str(reason), FinishReason.OTHER) if reason else None


def build_delta(answer: Any, text: str, finish: FinishReason | None) -> AnswerDelta:
    usage = getattr(answer, "usage", None)
    return AnswerDelta(
        text,
        finish,
        input_tokens=token_count(usage, "prompt_tokens"),
        output_tokens=token_count(usage, "completion_tokens"),
        model=model_name(answer),
    )
