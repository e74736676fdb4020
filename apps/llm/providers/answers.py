"""An answer as it comes in, whatever the wire format."""

from dataclasses import dataclass, field
from typing import Any

from apps.llm.domain.chat import MAX_MODELS, ChatRequest, Completion, EndChunk, FinishReason, Usage, estimate_usage

MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """What one event of a stream adds. The numbers are totals so far; None where the event does not say."""

    text: str = field(default="", repr=False)
    finish: FinishReason | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None


_NOTHING = AnswerDelta()


class AnswerBuilder:
    """Adds up deltas. model: the requested one, until an event names the one that answers.

    has_begun: whether a delta said anything. finish: why the answer ends, None until it is whole.
    """

    def __init__(self, request: ChatRequest, model: str) -> None:
        self._request = request
        self._model = model
        self._texts: list[str] = []
        self._input_tokens: int | None = None
        self._output_tokens: int | None = None
        self.finish: FinishReason | None = None
        self.has_begun = False

    def add(self, delta: AnswerDelta) -> None:
        """Add what an event says."""
        self.has_begun = self.has_begun or delta != _NOTHING
        self.finish = delta.finish or self.finish
        self._model = delta.model or self._model
        self._input_tokens = self._input_tokens if delta.input_tokens is None else delta.input_tokens
        self._output_tokens = self._output_tokens if delta.output_tokens is None else delta.output_tokens
        if delta.text:
            self._texts.append(delta.text)

    @property
    def usage(self) -> Usage:
        """Return what the provider has said so far, filled up with estimates."""
        asked, answered = self._input_tokens, self._output_tokens
        if asked is not None and answered is not None:
            return Usage(asked, answered)
        estimate = estimate_usage(self._request, "".join(self._texts))
        return Usage(
            estimate.input_tokens if asked is None else asked,
            estimate.output_tokens if answered is None else answered,
            estimated=True,
        )

    def end(self) -> EndChunk:
        """Return the last chunk of a stream."""
        return EndChunk(self.usage, self.finish or FinishReason.OTHER, self._model)

    def completion(self) -> Completion:
        """Return the whole answer."""
        end = self.end()
        return Completion("".join(self._texts), end.usage, end.finish, end.model)


def token_count(counts: Any, name: str) -> int | None:
    """Return a number of tokens in an answer; None for anything else that a server may send."""
    value = getattr(counts, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def model_name(answer: Any) -> str | None:
    """Return which model answered; None where the answer does not say."""
    name = getattr(answer, "model", None)
    return name if isinstance(name, str) and name else None


def listed_models(page: Any) -> tuple[str, ...]:
    """Return the names in a list of models. Raises TypeError where it is none.

    Names that cannot be configured are left out: control characters, halves of surrogate pairs, too many characters.
    """
    if not isinstance(page.data, list):
        raise TypeError("The answer does not contain a list of models.")
    names = [getattr(entry, "id", None) for entry in page.data[:MAX_MODELS]]
    usable = (
        name
        for name in names
        if isinstance(name, str) and name.strip() and name.isprintable() and len(name) <= MAX_NAME_CHARS
    )
    return tuple(dict.fromkeys(usable))
