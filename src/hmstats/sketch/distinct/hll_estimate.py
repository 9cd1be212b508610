"""The estimate of a HyperLogLog sketch, computed as in Hive.

Sources: org.apache.hadoop.hive.common.ndv.hll.HyperLogLog (count, estimateBias, linearCounting), and the bias tables of
HyperLogLog++ (Heule, Nunkesser, Hall 2013, appendix), which lie beside this file as rows of p, raw estimate, bias.
"""

import functools
import math
from importlib import resources

import numpy as np
import numpy.typing as npt

_SPARSE_KEYS = 1 << 25
_NEIGHBOURS = 6
_LINEAR_LIMITS = {
    4: 10, 5: 20, 6: 40, 7: 80, 8: 220, 9: 400, 10: 900, 11: 1800, 12: 3100, 13: 6500, 14: 15500, 15: 20000, 16: 50000,
}  # fmt: skip
"""The largest linear count that is used as the estimate, by p. For p = 14 the paper has 11500; Hive has 15500."""


def count_sparse(entries: int) -> int:
    """The count of a sparse sketch of so many entries: linear counting over 2^25 keys."""
    return math.floor(_SPARSE_KEYS * math.log(_SPARSE_KEYS / (_SPARSE_KEYS - entries)) + 0.5)


def count_dense(registers: npt.NDArray[np.uint8], p: int) -> int:
    """The count of 2^p registers: linear counting while it is small, else the raw estimate less its known bias."""
    size = 1 << p
    by_rank = np.bincount(registers, minlength=64)
    harmonic = float(np.ldexp(by_rank.astype(np.float64), -np.arange(len(by_rank))).sum())
    raw = int(_alpha_squared_size(size) / harmonic)
    if raw <= 5 * size:
        raw -= _bias(raw, p)
    zeros = int(by_rank[0])
    linear = math.floor(size * math.log(size / zeros) + 0.5) if zeros else raw
    return linear if linear < _LINEAR_LIMITS[p] else raw


def _alpha_squared_size(size: int) -> float:
    """The paper's alpha times m squared, in single precision as in Hive."""
    m = np.float32(size)
    alpha = np.float32(0.7213) / (np.float32(1) + np.float32(1.079) / m)
    return float(alpha * m * m)


def _bias(raw: int, p: int) -> int:
    """The mean bias of the six nearest raw estimates, rounded; of two equally near ones the later counts alone."""
    estimates, biases = _tables()[p]
    _, nearest = np.unique(((raw - estimates) ** 2)[::-1], return_index=True)
    near = biases[::-1][nearest[:_NEIGHBOURS]]
    return int(float(near.sum()) / _NEIGHBOURS + 0.5)


@functools.cache
def _tables() -> dict[int, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    with resources.files(__package__).joinpath("hll_bias.csv").open() as lines:
        rows = np.loadtxt(lines, delimiter=",", skiprows=1)
    return {p: (rows[rows[:, 0] == p, 1], rows[rows[:, 0] == p, 2]) for p in _LINEAR_LIMITS}
