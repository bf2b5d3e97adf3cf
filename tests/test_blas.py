"""BLAS has one thread inside of a fit, and what it had before after the last."""

import threading

import pytest
from threadpoolctl import ThreadpoolController

from klafter import KLafter
from klafter.datasets import load_karate
from klafter.models import predictions
from klafter.search.blas import one_blas_thread

BLAS = ThreadpoolController().select(user_api="blas")


def threads():
    return {library["num_threads"] for library in BLAS.info()}


@pytest.fixture(autouse=True)
def two_threads():
    if not BLAS.info():
        pytest.skip("this NumPy has a BLAS that cannot be asked")
    with BLAS.limit(limits=2):
        yield


def test_a_fit_limits_blas_and_lets_go():
    seen = set()
    KLafter(n_init=1, n_smooth=2, random_state=0).fit(load_karate(), callback=lambda progress: seen.update(threads()))
    assert seen == {1}
    assert threads() == {2}


def test_what_the_structural_expert_learns_for_predictions_limits_blas_too(monkeypatch):
    model = KLafter(n_init=1, n_smooth=2, structure=0.5, random_state=0).fit(load_karate())
    seen = set()
    monkeypatch.setattr(predictions, "fit_expert", lambda *words: seen.update(threads()))
    model.predict_proba([(0, 1)])
    assert seen == {1}
    assert threads() == {2}


def test_a_fit_beside_another_neither_waits_nor_leaves_anything_behind():
    seen = set()

    def other():
        with one_blas_thread():
            seen.update(threads())

    with one_blas_thread():
        beside = threading.Thread(target=other)
        beside.start()
        beside.join()
        assert seen == threads() == {1}
    assert threads() == {2}


def test_an_error_lets_go_as_well():
    with pytest.raises(ValueError, match="some"), one_blas_thread():
        raise ValueError("some")
    assert threads() == {2}
