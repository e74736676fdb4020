"""Arrays by slot, see `domain.shard`."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Slots = npt.NDArray[np.int64]
