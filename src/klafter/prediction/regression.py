"""Logistic regression on standardised features, as scikit-learn fits it; its own takes longer to load than to fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

MOST_STEPS, TOLERANCE = 300, 1e-4  # of L-BFGS, the latter for the slope of the mean loss


class Regression(NamedTuple):
    """Log odds = intercept + weights . (features - mean) / scale."""

    intercept: float
    weights: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    def log_odds(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(self.intercept + (features - self.mean) / self.scale @ self.weights)


def fit_regression(features: np.ndarray, linked: np.ndarray, cost: float) -> Regression:
    """The weights w that minimise cost * (sum of losses) + |w|^2 / 2 on features of mean 0 and variance 1.

    Examples
    --------
    >>> features, linked = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> found = fit_regression(features, linked, cost=1.0)
    >>> bool(found.weights[0] > 0), bool(abs(found.log_odds(np.array([[1.5]]))[0]) < 1e-3)
    (True, True)
    """
    from scipy.optimize import minimize

    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale <= 10 * np.finfo(float).eps] = 1.0  # a feature that does not vary
    x, n = (features - mean) / scale, len(features)
    ridge = 1.0 / (cost * n)

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        eta, w = x @ beta[:-1] + beta[-1], beta[:-1]
        away = (expit(eta) - linked) / n
        slope = np.append(x.T @ away + ridge * w, away.sum())
        return float((np.logaddexp(0.0, eta) - linked * eta).sum() / n + 0.5 * ridge * (w @ w)), slope

    options = {"maxiter": MOST_STEPS, "maxls": 50, "gtol": TOLERANCE, "ftol": 64 * np.finfo(float).eps}
    found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", options=options).x
    return Regression(float(found[-1]), found[:-1], mean, scale)
