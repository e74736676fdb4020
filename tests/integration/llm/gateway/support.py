"""What tests of the gateway ask, and whom."""

from typing import Any, Literal

from pydantic import BaseModel

from apps.llm.domain.chat import ChatMessage, ChatRequest, MessageRole, Timeouts
from apps.llm.domain.outcome import ChatAnswer, ChatFailure, ChatResult
from apps.llm.models import ModelCall
from apps.llm.providers.endpoint import Endpoint
from tests.integration.llm.chat_server import ChatServer

QUESTION = ChatRequest((ChatMessage(MessageRole.USER, "How is the weather?"),), max_tokens=50)
QUICK = Timeouts(connect=2, idle=0.3, total=20)


class Weather(BaseModel):
    sky: Literal["clear", "cloudy"]
    degrees: float


class Days(BaseModel):
    days: list[int]


CLEAR = '{"sky": "clear", "degrees": 21.5}'


def endpoint_of(server: ChatServer, service: str, **changes: Any) -> Endpoint:
    given = {"base_url": server.base_url(service), "api_key": "sk-secret-0123456789", **changes}
    return Endpoint(service, "some-model", **given)


def answer(result: ChatResult[Any]) -> ChatAnswer[Any]:
    assert isinstance(result, ChatAnswer), result
    return result


def failure(result: ChatResult[Any]) -> ChatFailure:
    assert isinstance(result, ChatFailure), result
    return result


def recorded() -> ModelCall:
    """The one call that was written down."""
    return ModelCall.objects.get()
