"""What an LFR graph is asked to be, checked at the door."""

from __future__ import annotations

import math
from dataclasses import dataclass

from klafter.datasets.power_laws import lowest_mean


@dataclass(frozen=True)
class Plan:
    """The parameters of ``make_lfr``."""

    n: int
    average_degree: float
    max_degree: int
    mu: float
    tau1: float
    tau2: float
    min_community: int | None
    max_community: int | None
    on: int | float
    om: int
    mu_w: float
    beta: float

    @property
    def n_overlapping(self) -> int:
        return round(self.on * self.n) if isinstance(self.on, float) and self.on < 1 else int(self.on)

    @property
    def n_places(self) -> int:
        """Memberships of all nodes together."""
        return self.n + self.n_overlapping * (self.om - 1)

    @property
    def largest_need(self) -> int:
        """Members that a community of a node with the largest degree must have."""
        share = self.om if self.n_overlapping == self.n else 1
        return math.ceil((1 - self.mu) * self.max_degree / share - 1e-9) + 1

    @property
    def largest_size(self) -> int:
        """Links to outside need as many nodes there: no community may hold more than half of the nodes."""
        return self.n // 2 if self.mu > 0 else self.n

    def sizes(self, least_degree: int) -> tuple[int, int]:
        """Least and most members of a community."""
        most = min(self.max_community or max(self.max_degree, 2) + 1, self.largest_size)
        if self.min_community is None:  # up to half of the most, every number of places can be divided
            return max(2, min(max(least_degree, 3), (most + 1) // 2)), most
        return self.min_community, most


def check_plan(plan: Plan) -> None:
    """Refuse what no graph can be."""
    _check_numbers(plan)
    _check_degrees(plan)
    _check_overlap(plan)
    _check_sizes(plan)


def _check_numbers(plan: Plan) -> None:
    if plan.n < 2:
        raise ValueError(f"make_lfr needs n of at least 2; this is {plan.n}.")
    for name in ("mu", "mu_w"):
        if not 0 <= (value := getattr(plan, name)) <= 1:
            raise ValueError(f"make_lfr needs {name} between 0 and 1, as it is a share; this is {value}.")
    if plan.mu_w in (0, 1) and plan.mu_w != plan.mu:
        raise ValueError(
            f"make_lfr needs mu_w above 0 and below 1, as links have positive weights; this is {plan.mu_w:g}, "
            f"with mu={plan.mu:g}."
        )
    for name in ("tau1", "tau2", "beta"):
        if not 0 <= (value := getattr(plan, name)) < math.inf:
            raise ValueError(f"make_lfr needs {name} of at least 0; this is {value}.")


def _check_degrees(plan: Plan) -> None:
    if not 1 <= plan.max_degree < plan.n:
        raise ValueError(
            f"make_lfr needs max_degree from 1 to {plan.n - 1}, one less than the nodes; this is {plan.max_degree}."
        )
    least = lowest_mean(plan.max_degree, plan.tau1)
    if not least <= plan.average_degree <= plan.max_degree:
        raise ValueError(
            f"make_lfr needs average_degree from {least:.3g} to {plan.max_degree}: no degrees from 1 to "
            f"max_degree={plan.max_degree} with exponent tau1={plan.tau1:g} have another mean; this is "
            f"{plan.average_degree:g}. Change max_degree or tau1."
        )


def _check_overlap(plan: Plan) -> None:
    if not 0 <= plan.on <= plan.n:
        raise ValueError(f"make_lfr needs on, the overlapping nodes, from 0 to n={plan.n}; this is {plan.on}.")
    if isinstance(plan.on, float) and plan.on > 1 and not plan.on.is_integer():
        raise ValueError(f"make_lfr needs on as a whole number of nodes or a share below 1; this is {plan.on}.")
    if plan.om < 1:
        raise ValueError(
            f"make_lfr needs om, the communities of an overlapping node, of at least 1; this is {plan.om}."
        )


def _check_sizes(plan: Plan) -> None:
    least, most = plan.sizes(least_degree=1)
    for name in ("min_community", "max_community"):
        size = getattr(plan, name)
        if size is not None and not 2 <= size <= plan.n:
            raise ValueError(f"make_lfr needs {name} from 2 to n={plan.n}; this is {size}.")
    if plan.min_community is not None and plan.min_community > most:
        raise ValueError(
            f"make_lfr needs min_community of at most {most}; this is {plan.min_community}. Communities have at most "
            f"max_community nodes, and at most half of all where links go to outside (mu={plan.mu:g})."
        )
    if plan.largest_need > most:
        raise ValueError(
            f"make_lfr needs communities of {plan.largest_need} nodes: with mu={plan.mu:g} a node of degree "
            f"{plan.max_degree} has {plan.largest_need - 1} links inside its community; the largest may have {most}. "
            "Lower max_degree, raise mu, max_community or n."
        )
    fewest, many = -(-plan.n_places // most), plan.n_places // least
    if fewest > many or (plan.n_overlapping and many < plan.om):
        raise ValueError(
            f"make_lfr needs communities with {plan.n_places} places together, at least {plan.om} of them; there are "
            f"none of {least} to {most} nodes. Lower min_community, or raise max_community or n."
        )
