"""Has the chain run long enough? Effective sample size and R-hat of traces, by ArviZ.

A trace is one number per kept sweep, such as the log posterior or the number of communities, as an array of shape
(chains, draws). Rank-normalised versions of Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021).
"""

import warnings

import numpy as np


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
    return float(_arviz().ess(_as_trace(trace), method="bulk"))


def r_hat(trace) -> float:
    """How much chains disagree: 1 when they do not; above 1.01 they need more sweeps.

    Parameters
    ----------
    trace : (chains, draws) array
        Two chains or more, at least four draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> r_hat(rng.normal(size=(4, 1000))) < 1.01
    True
    """
    trace = _as_trace(trace)
    if len(trace) < 2:
        raise ValueError("R-hat compares chains and this trace has 1. Fit with n_chains=2 or more.")
    return float(_arviz().rhat(trace, method="rank"))


def _as_trace(trace) -> np.ndarray:
    trace = np.atleast_2d(np.asarray(trace, float))
    if trace.ndim != 2 or trace.shape[1] < 4:
        raise ValueError(
            f"A trace needs shape (chains, draws) with at least 4 draws; this one has shape {trace.shape}."
        )
    return trace


def _arviz():
    """ArviZ, loaded when first asked for."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError as error:
        raise ImportError('Chain diagnostics need ArviZ. Install it with: pip install "klafter[mcmc]".') from error
    return arviz
