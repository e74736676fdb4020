"""Average a run with the delivered judge or another run, weight by weight: what one forgot, the other one still knows.

`python -m training.average RUN --other FOLDER --share 0.6 --out FOLDER`, for `training.export`. The other is the folder
of a run or of the judge `pairs.onnx`. Both must have begun alike: the run with that judge, or both with the same one.
"""

import argparse
from pathlib import Path

import numpy as np

from training.delivered import read_weights


def main() -> None:
    """Write the weights of the average into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--other", type=Path, required=True, help="folder with `pairs.onnx`, or of another run")
    parser.add_argument("--share", type=float, required=True, help="of the run; the other one has the rest")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    other, run = read_weights(args.other), read_weights(args.run)
    args.out.mkdir(parents=True, exist_ok=True)
    # A judge before pairs-9 has no first answer: that of the run is kept.
    other = {name: weight for name, weight in run.items() if name.startswith("first_classifier.")} | other
    mixed = {name: args.share * weight + (1 - args.share) * other[name] for name, weight in run.items()}
    np.savez(args.out / "network.npz", **mixed)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
