"""An answer as it comes in, whatever the wire format."""

from dataclasses import dataclass, field
from typing import Any

from apps.llm.domain.chat import MAX_MODELS, ChatRequest, Completion, EndChunk, FinishReason, Usage, estimate_usage

MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class Delta:
    """What one event of a stream adds. The numbers are totals so far; None where the event says nothing of them."""

    text: str = field(default="", repr=False)
    finish: FinishReason | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None


_NOTHING = Delta()


class Answer:
    """Adds up deltas. model: the one that was asked for.

    began: whether any of them had something to say. finish: why the answer ends, None until it is whole.
    """

    def __init__(self, request: ChatRequest, model: str) -> None:
        self._request = request
        self._model = model
        self._texts: list[str] = []
        self._input_tokens: int | None = None
        self._output_tokens: int | None = None
        self.finish: FinishReason | None = None
        self.began = False

    def add(self, delta: Delta) -> None:
        """Take in what an event adds."""
        self.began = self.began or delta != _NOTHING
        self.finish = delta.finish or self.finish
        self._model = delta.model or self._model
        self._input_tokens = self._input_tokens if delta.input_tokens is None else delta.input_tokens
        self._output_tokens = self._output_tokens if delta.output_tokens is None else delta.output_tokens
        if delta.text:
            self._texts.append(delta.text)

    @property
    def usage(self) -> Usage:
        """What the provider has said so far, filled up with estimates."""
        if self._input_tokens is not None and self._output_tokens is not None:
            return Usage(self._input_tokens, self._output_tokens)
        estimate = estimate_usage(self._request, "".join(self._texts))
        asked, answered = self._input_tokens, self._output_tokens
        return Usage(
            estimate.input_tokens if asked is None else asked,
            estimate.output_tokens if answered is None else answered,
            estimated=True,
        )

    def end(self) -> EndChunk:
        return EndChunk(self.usage, self.finish or FinishReason.OTHER, self._model)

    def completion(self) -> Completion:
        end = self.end()
        return Completion("".join(self._texts), end.usage, end.finish, end.model)


def tokens(value: object) -> int | None:
    """A count of tokens out of an answer, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def model_names(page: Any) -> tuple[str, ...]:
    """The names in a list of models, without those that nobody could configure. Raises TypeError where it is none."""
    if not isinstance(page.data, list):
        raise TypeError("The answer holds no list of models.")
    names = [getattr(entry, "id", None) for entry in page.data[:MAX_MODELS]]
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and _is_usable(name)))


def _is_usable(name: str) -> bool:
    """Whether a person could configure a model of this name: no control characters, no halves of surrogate pairs."""
    return bool(name.strip()) and name.isprintable() and len(name) <= MAX_NAME_CHARS
