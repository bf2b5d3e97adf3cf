"""Modules that are loaded when they are first used, by several threads at once."""

import sys
from concurrent.futures import ThreadPoolExecutor

from klafter.cli.later import postpone


def test_threads_wait_until_a_module_is_whole(tmp_path, monkeypatch):
    (tmp_path / "slow_to_wake.py").write_text("import time\ntime.sleep(0.3)\nanswer = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_to_wake", raising=False)
    postpone("slow_to_wake")
    import slow_to_wake

    assert "answer" not in vars(slow_to_wake)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: slow_to_wake.answer, range(4))) == [42] * 4
    assert type(slow_to_wake) is type(sys)


def test_a_module_may_ask_for_a_name_of_its_own_that_is_not_there(tmp_path, monkeypatch):
    (tmp_path / "asks_itself.py").write_text("import sys\nhas = hasattr(sys.modules[__name__], 'later')\nlater = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "asks_itself", raising=False)
    postpone("asks_itself")
    import asks_itself

    assert not asks_itself.has
    assert asks_itself.later == 1
