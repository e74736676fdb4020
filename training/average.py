"""Average a run with the delivered judge, weight by weight: what one forgot, the other one still knows.

`python -m training.average RUN --delivered apps/llm/pair_judge/model --share 0.6 --out FOLDER`, for `training.export`.
The run must have begun with the delivered judge (`training.train --start`).
"""

import argparse
import shutil
from pathlib import Path

import numpy as np

from training.delivered import read_delivered


def main() -> None:
    """Write the weights of the average, and the tokenizer of the run, into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--delivered", type=Path, required=True, help="folder with `pairs.onnx`")
    parser.add_argument("--share", type=float, required=True, help="of the run; the delivered judge has the rest")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    before = read_delivered(args.delivered / "pairs.onnx")
    args.out.mkdir(parents=True, exist_ok=True)
    with np.load(args.run / "network.npz") as after:
        mixed = {name: args.share * after[name] + (1 - args.share) * before[name] for name in after.files}
    np.savez(args.out / "network.npz", **mixed)  # type: ignore[arg-type]
    shutil.copy(args.run / "tokenizer.json", args.out)


if __name__ == "__main__":
    main()
