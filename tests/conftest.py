"""Fixtures that several test files share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)  # --hypothesis-profile=default explores
settings.load_profile("repeatable")
os.environ["KLAFTER_CHECK_CLAIMS"] = "1"  # after every accepted move the claimed change is the change of the objective


@pytest.fixture(scope="session")
def data_home() -> Path:
    """A folder with the public data files: KLAFTER_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    home = Path(os.environ.get("KLAFTER_DATA") or beside)
    if not (home / "Protein230.mat").is_file() and not (home / "raw" / "Protein230.mat").is_file():
        pytest.skip(f"the public data files are not in {home}: set KLAFTER_DATA to a folder that holds them")
    return home
