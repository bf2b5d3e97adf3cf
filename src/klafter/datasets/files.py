"""The public files behind ``fetch_*``: where each stands, what it must be, and how it gets into the data home.

Addresses are pinned to a commit and contents to a sha256, so everyone works with the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

LARGEST, LONGEST = 100 * 2**20, 600.0  # bytes and seconds of a download: no file here comes near them
HOST = "https://raw.githubusercontent.com"


class DataFile(NamedTuple):
    """A file as its source publishes it."""

    name: str
    folder: str  # repository, commit and folder at the host
    sha256: str

    @property
    def url(self) -> str:
        """Where it is downloaded from; KLAFTER_DATA_URL names a mirror with the same folders."""
        return f"{os.environ.get('KLAFTER_DATA_URL', HOST).rstrip('/')}/{self.folder}/{self.name}"


_EPM = "mingyuanzhou/EPM/f49facca0d35c14c69b699c96dddefa5f7955682/data"
_KNOWCEANS = "gregoryyy/knowceans/f8aef6854f3a0f1328c57fa82a3b46e324efb780/knowceans-tools/corpus-example/nips17"
_INFOMAP = "mapequation/infomap-notebooks/78aa75cb8e739a8f44660af15a1304ddf9a4ec41/data"
_RNET = "bavla/Rnet/0cf851fe931e903b1ae9c7bdb5f2c80575477dc6/net/mRel/Lazega"

FILES = {
    file.name: file
    for file in (
        DataFile("Protein230.mat", _EPM, "d3c6032438885ed0b2706107e937b4062f07a397731b61e30d6f105c82ce92ae"),
        DataFile("nips17.authors", _KNOWCEANS, "252dffd081250c13f67b9e6a1ec26d24c98a1227a7ab063c4d1d8d2502e8f323"),
        DataFile("nips17.authors.key", _KNOWCEANS, "637d5ac8ebdeae130abf523b22e71f809dd7116b44349faec810205e93e9fe04"),
        DataFile("ELwork.dat", _INFOMAP, "1a1096c3ceb50f5161e8301a988f192d461050996f8d7bbcb540ab2a261c369e"),
        DataFile("ELattr.dat", _INFOMAP, "f39032236a61cf9ff06763d0d720a4dfcabed91167b4d23cfca69e33be4fc64b"),
        DataFile("Lazega-Law-Firm.paj", _RNET, "62c34c15a2d94853cd5bbdadaadc436ed60ce98274b01ed0b3e6c6ffe843b31f"),
    )
}


def fetch_file(name: str, data_home: str | os.PathLike | None = None) -> Path:
    """The path of a file in the data home, downloaded there first if need be."""
    file = FILES[name]
    chosen = data_home or os.environ.get("KLAFTER_DATA")
    home = Path(chosen).expanduser() if chosen else Path(_pooch(file).os_cache("klafter"))
    for path in (home / name, home / "raw" / name):
        if path.is_file():
            return _checked(path, file)
    return _download(file, home)


def _checked(path: Path, file: DataFile) -> Path:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != file.sha256:
        raise OSError(
            f"{path} is corrupt: its sha256 begins {found[:12]}, expected {file.sha256[:12]}. "
            "Delete the file and it will be downloaded again."
        )
    return path


def _download(file: DataFile, home: Path) -> Path:
    """Download into the data home; what does not match the sha256 never arrives there."""
    pooch = _pooch(file)
    from requests import RequestException

    try:
        home.mkdir(parents=True, exist_ok=True)
        return Path(pooch.retrieve(file.url, f"sha256:{file.sha256}", file.name, home, downloader=_bounded))
    except _Unbounded as error:
        raise ConnectionError(
            f"The download of {file.name} from {file.url} was given up: it {error}. Save the file in {home} yourself."
        ) from error
    except RequestException as error:
        raise ConnectionError(
            f"Could not download {file.name} from {file.url} ({type(error).__name__}). Check the network, "
            f"or save the file in {home} yourself, or point KLAFTER_DATA at a folder that holds it."
        ) from error
    except ValueError as error:
        raise OSError(
            f"{file.name} has changed at {file.url}: its sha256 is no longer {file.sha256[:12]}... "
            f"Save the original file in {home} yourself, or update klafter."
        ) from error
    except OSError as error:
        raise OSError(
            f"Could not write {file.name} to {home} ({error}). Pass data_home= or set KLAFTER_DATA."
        ) from error


class _Unbounded(Exception):
    """A download beyond its limits."""


def _bounded(url: str, output: Any, pooch: Any) -> None:
    """Download to a path: a server that sends without end, or ever slower, is left."""
    import requests

    begun = time.monotonic()
    with requests.get(url, stream=True, timeout=30) as reply, open(output, "wb") as file:
        reply.raise_for_status()
        for chunk in reply.iter_content(2**16):
            file.write(chunk)
            if file.tell() > LARGEST:
                raise _Unbounded(f"is larger than {LARGEST / 2**20:g} MB")
            if time.monotonic() - begun > LONGEST:
                raise _Unbounded(f"takes longer than {LONGEST:g} seconds")


def _pooch(file: DataFile):
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"Downloading {file.name} needs pooch, which is not installed: pip install 'klafter[data]', "
            f"or save {file.url} in a folder and set KLAFTER_DATA to it."
        ) from error
    return pooch
