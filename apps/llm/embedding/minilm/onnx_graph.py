"""A short way to write ONNX graphs: values are names, every operation returns the name of its output."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
IR_VERSION = 9
CONTRIB = "com.microsoft"

Array = npt.NDArray[Any]


class GraphBuilder:
    """Collects constants and nodes, and builds the model of them."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._shared: dict[tuple[str, tuple[int, ...], bytes] | None, str] = {}

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> str:
        """Return the name of a constant; small equal ones share a name."""
        array = np.ascontiguousarray(np.asarray(value, dtype=dtype)).reshape(np.shape(value))
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size <= 16 else None
        if key in self._shared:
            return self._shared[key]
        name = f"constant_{len(self._constants)}"
        self._constants[name] = numpy_helper.from_array(array, name)
        if key is not None:
            self._shared[key] = name
        return name

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operation with one output; return the output's name."""
        return self.ops(kind, *inputs, outputs=1, domain=domain, **attributes)[0]

    def ops(self, kind: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any) -> list[str]:
        """Add an operation with several outputs; return their names."""
        base = f"{kind}_{len(self._nodes)}"
        names = [f"{base}_{number}" for number in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), names, name=base, domain=domain, **attributes))
        return names

    def model(self, inputs: Sequence[str], output: str, width: int, *, vectors: Mapping[str, int] | None = None) -> Any:
        """Return the checked model: int32 inputs of shape (batch, tokens), a float32 output (batch, width).

        vectors: the widths of inputs of float32, (batch, tokens, width), by name.
        """
        make_info = helper.make_tensor_value_info
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [
                *(make_info(name, TensorProto.INT32, ["batch", "tokens"]) for name in inputs),
                *(
                    make_info(name, TensorProto.FLOAT, ["batch", "tokens", size])
                    for name, size in (vectors or {}).items()
                ),
            ],
            [make_info(output, TensorProto.FLOAT, ["batch", width])],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model
