"""Has the chain run long enough? Effective sample size and R-hat of traces.

A trace is one number per kept sweep, such as the log posterior or the number of communities, as an array of shape
(chains, draws). Rank-normalised versions of Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021), on chains cut in
halves, so that a chain that drifts disagrees with itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtri

FEWEST = 4  # draws of a chain below which nothing can be said
GOOD, POOR = 1.01, 1.05  # R-hat that is recommended, and beyond which chains disagree
WANTED = (
    10  # independent draws that a chain should be worth: the error of a mean is then a sixth of the spread, of four
)


def effective_sample_size(trace) -> float:
    """The effective number of independent draws of a trace, for its mean.

    Parameters
    ----------
    trace : (chains, draws) array
        At least four draws; a single chain may be given as (draws,).

    Returns
    -------
    float
        Bulk effective sample size; not a number when the trace never moves.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> 3000 < effective_sample_size(rng.normal(size=(4, 1000))) < 5000
    True
    """
    halves = _halves(_as_trace(trace))
    if np.ptp(halves) == 0.0:
        return float("nan")
    z = _normal_scores(halves)
    covariance = _autocovariance(z)
    within, total = _variances(z)
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[: rho.size // 2 * 2].reshape(-1, 2).sum(axis=1)  # positive and falling in theory (Geyer 1992)
    positive = pairs[: int(np.argmax(np.append(pairs, -1.0) < 0.0))]
    tau = 2.0 * float(np.minimum.accumulate(positive).sum()) - 1.0
    return z.size / max(tau, 1.0 / np.log10(z.size))


def r_hat(trace) -> float:
    """How much chains disagree, in place or in spread: 1 when they do not; above 1.01 they need more sweeps.

    Parameters
    ----------
    trace : (chains, draws) array
        Two chains or more, at least four draws.

    Returns
    -------
    float
        Not a number when the trace never moves, infinite where each chain stays at a value of its own.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> r_hat(rng.normal(size=(4, 1000))) < 1.01
    True
    """
    trace = _as_trace(trace)
    if len(trace) < 2:
        raise ValueError("R-hat compares chains and this trace has 1. Fit with n_chains=2 or more.")
    halves = _halves(trace)
    spread = np.abs(halves - np.median(halves))
    ratios = [_ratio(part) for part in (halves, spread) if np.ptp(part) > 0.0]
    return max(ratios, default=float("nan"))


def summarise(traces: Mapping[str, Sequence[Sequence[float]]]) -> dict[str, dict[str, float]]:
    """``ess`` and ``r_hat`` of each trace, given by chain; NaN where there are too few draws or chains to tell."""
    answer = {}
    for name, chains in traces.items():
        shortest = min(len(chain) for chain in chains)
        trace = np.array([chain[:shortest] for chain in chains], float)
        ess = effective_sample_size(trace) if shortest >= FEWEST else float("nan")
        many = shortest >= FEWEST and len(trace) > 1
        answer[name] = {"ess": ess, "r_hat": r_hat(trace) if many else float("nan")}
    return answer


def complaint(found: Mapping[str, Mapping[str, float]], n_chains: int) -> str | None:
    """What is wrong with chains, if anything: R-hat above ``POOR``, or fewer than ``WANTED`` draws' worth a chain."""
    poor = [f"R-hat of {name} is {line['r_hat']:.2f}" for name, line in found.items() if line["r_hat"] > POOR]
    few = [
        f"the sweeps are worth {line['ess']:.0f} independent draws of {name}"
        for name, line in found.items()
        if line["ess"] < WANTED * n_chains
    ]
    if not poor and not few:
        return None
    wanted = [f"at most {POOR} wanted, {GOOD} is good"] * bool(poor) + [f"{WANTED * n_chains} wanted"] * bool(few)
    chains = "The chain has" if n_chains == 1 else f"The {n_chains} chains have"
    return f"{chains} not run long enough: {', '.join(poor + few)} ({'; '.join(wanted)})."


def _ratio(halves: np.ndarray) -> float:
    """sqrt of the variance of all draws over that within chains, of normal scores."""
    within, total = _variances(_normal_scores(halves))
    return float(np.sqrt(total / within)) if within > 0.0 else float("inf")


def _variances(z: np.ndarray) -> tuple[float, float]:
    """Within chains, and that of all draws as estimated from within and between."""
    n = z.shape[1]
    within = float(z.var(axis=1, ddof=1).mean())
    return within, (n - 1) / n * within + float(z.mean(axis=1).var(ddof=1))


def _halves(trace: np.ndarray) -> np.ndarray:
    """Every chain as two, the middle draw of an odd number left out."""
    half = trace.shape[1] // 2
    return np.concatenate([trace[:, :half], trace[:, -half:]])


def _normal_scores(x: np.ndarray) -> np.ndarray:
    """Ranks over all chains, ties sharing theirs, as quantiles of the normal distribution."""
    _, where, counts = np.unique(x, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ndtri((ranks - 0.375) / (x.size + 0.25))[where.reshape(x.shape)])


def _autocovariance(z: np.ndarray) -> np.ndarray:
    """(draws,) mean over chains of the covariance at each lag, by Fourier transform."""
    n = z.shape[1]
    spectrum = np.fft.rfft(z - z.mean(axis=1, keepdims=True), 2 * n, axis=1)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :n].mean(axis=0) / n)


def _as_trace(trace) -> np.ndarray:
    trace = np.atleast_2d(np.asarray(trace, float))
    if trace.ndim != 2 or trace.shape[1] < FEWEST:
        raise ValueError(
            f"A trace needs shape (chains, draws) with at least {FEWEST} draws; this one has shape {trace.shape}."
        )
    return trace
