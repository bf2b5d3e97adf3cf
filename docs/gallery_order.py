"""The order of the examples."""

from pathlib import Path


class ExampleOrder:
    """From the first question people have to the last; a new script comes after those named here."""

    NAMES = (
        "go_betweens", "how_many", "lawyers", "proteins", "unobserved", "counts", "how_sure", "which_model", "large",
    )  # fmt: skip

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        stem = Path(name).stem
        return (self.NAMES.index(stem) if stem in self.NAMES else len(self.NAMES), stem)
