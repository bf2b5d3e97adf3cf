"""The systems of Table 1, as far as this installation has them, with their settings for full and quick runs."""

from __future__ import annotations

from typing import Any

from klafter import models

ONE, OPTIMA = "KLafter, one optimum", "KLafter, optima averaged"  # KLafter itself averages sweeps from its optima
FOLDED = "PaperKLafter, lambda by folds"
SYSTEMS = ("MMSB", "EPM", "IRM", "LFRM", "PaperKLafter", FOLDED, ONE, OPTIMA, "KLafter")
CLASSES = {ONE: "KLafter", OPTIMA: "KLafter", FOLDED: "KLafterCV"}
QUICK = {
    "n_burn": 40,
    "n_draws": 40,
    "n_chains": 1,
    "n_init": 1,
    "n_smooth": 40,
    "max_iter": 5,
}
FULL = {"n_chains": 4, "n_init": 8, "n_smooth": 360}
ONCE, UNSWEPT = {"n_init": 1, "n_smooth": 0}, {"n_smooth": 0}
QUICK_OF = {"EPM": {"n_communities": 30}, "PaperKLafter": {"max_iter": 4}, ONE: ONCE, OPTIMA: UNSWEPT}
SWEEPS = {"n_burn": 300, "n_draws": 300, "max_draws": 100}
MORE_SWEEPS = {"n_burn": 500, "n_draws": 500, "max_draws": 100}
FULL_OF = {
    "PaperKLafter": {"max_iter": 100},
    ONE: ONCE,
    OPTIMA: UNSWEPT,
    "MMSB": SWEEPS,
    "IRM": SWEEPS,
    "EPM": MORE_SWEEPS,
    "LFRM": MORE_SWEEPS,
}


def systems(quick: bool = False, n_jobs: int | None = None, names=SYSTEMS) -> tuple[dict, list[str]]:
    """The systems that can be imported, by name, and the names of those that cannot.

    Examples
    --------
    >>> found, missing = systems(quick=True, names=["KLafter", "Oracle"])
    >>> found["KLafter"].n_init, missing
    (1, ['Oracle'])
    """
    found = {name: _made(name, quick) for name in names if hasattr(models, CLASSES.get(name, name))}
    shared, own = (QUICK, QUICK_OF) if quick else (FULL, FULL_OF)
    for name, model in found.items():
        known = model.get_params(deep=False)
        wanted = {**shared, "n_jobs": n_jobs, **own.get(name, {})}
        model.set_params(**{key: value for key, value in wanted.items() if key in known})
    return found, [name for name in names if name not in found]


def _made(name: str, quick: bool) -> Any:
    """A system with its defaults; the paper's lambda is chosen among fewer when quick."""
    if name == FOLDED:
        chosen = models.KLafterCV.paper((0.5, 1.0), cv=2) if quick else models.KLafterCV.paper()
        return chosen.set_params(estimator=models.KLafter.paper(max_iter=4)) if quick else chosen
    return getattr(models, CLASSES.get(name, name))()
