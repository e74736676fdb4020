"""Read the weights of a run, or of the delivered judge back from its integers, so that training can go on from them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from apps.llm.embedding.minilm.encoder import GELU_FLOOR, HEAD_SIZE
from training.network import INNER, POSITIONS, WIDTH

Array = npt.NDArray[np.float32]


def read_weights(folder: Path) -> dict[str, Array]:
    """Return the weights of a folder, by the names of `Network`: those of a run, else of a delivered model."""
    if (run := folder / "network.npz").exists():
        with np.load(run) as weights:
            return dict(weights)
    return read_delivered(folder / "pairs.onnx")


def read_delivered(model: Path) -> dict[str, Array]:
    """Return the weights of an ONNX model that `training.export` wrote, by the names of `Network`.

    They are as exact as the integers: each layer is within a hundredth of what was trained. Positions beyond those of
    the model are zero.
    """
    constants = Constants(model)
    positions = constants.one()
    found = {"positions.weight": np.zeros((POSITIONS, WIDTH), np.float32)}
    found["positions.weight"][: len(positions)] = positions
    found |= constants.norm("LayerNorm")
    number = 0
    while constants.has_layer():
        layer = f"layer.{number}."
        weight, bias = constants.linear()
        for place, name in enumerate(("query", "key", "value")):
            part = slice(place * WIDTH, (place + 1) * WIDTH)
            # The builder divides the products of queries and keys beforehand.
            by = HEAD_SIZE**0.5 if name == "query" else 1.0
            found[f"{layer}attention.self.{name}.weight"] = weight[part] * by
            found[f"{layer}attention.self.{name}.bias"] = bias[part] * by
        for name in ("attention.output", "intermediate", "output"):
            weight, bias = constants.linear()
            found[f"{layer}{name}.dense.weight"], found[f"{layer}{name}.dense.bias"] = weight, bias
            if name != "intermediate":
                found |= constants.norm(f"{layer}{name}.LayerNorm")
        number += 1
        # A judge before pairs-9 has no first answer.
        if constants.has_layer() and not constants.is_layer_next():
            found |= constants.classifier("first_classifier")
    found |= constants.classifier("classifier")
    return {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in found.items()}


class Constants:
    """The constants of a model in the order in which it was built, without small ones that are no weights."""

    def __init__(self, model: Path) -> None:
        graph = onnx.load(model).graph
        self.all = [numpy_helper.to_array(one) for one in graph.initializer]
        self.place = 0

    def take(self, count: int) -> Iterator[Array]:
        """Yield the next weights."""
        for _ in range(count):
            yield self.one()

    def one(self) -> Array:
        """Return the next weight: the next one of more than a few numbers."""
        while self.all[self.place].size < 4 or self.all[self.place].dtype == np.int64:
            self.place += 1
        self.place += 1
        return self.all[self.place - 1].astype(np.float32)

    def has_layer(self) -> bool:
        """Return whether a layer of integers follows."""
        return any(one.dtype == np.int8 for one in self.all[self.place :])

    def is_layer_next(self) -> bool:
        """Return whether the next weight is one of integers, as the first one of a layer is."""
        return next(one for one in self.all[self.place :] if one.size >= 4 and one.dtype != np.int64).dtype == np.int8

    def classifier(self, name: str) -> dict[str, Array]:
        """Return the next classifier."""
        weight, bias = self.take(2)
        return {f"{name}.weight": weight.T, f"{name}.bias": bias}

    def norm(self, name: str) -> dict[str, Array]:
        """Return the next normalisation."""
        weight, bias = self.take(2)
        return {f"{name}.weight": weight, f"{name}.bias": bias}

    def linear(self) -> tuple[Array, Array]:
        """Return the weight, (out, in), and the bias of the next product of integers, less what its floor adds."""
        while self.all[self.place].dtype != np.int8:
            self.place += 1
        integers, scale, bias = self.take(3)
        weight = integers * scale
        floor = GELU_FLOOR if len(weight) == INNER else 0.0
        return weight.T, bias - floor * weight.sum(axis=0)
