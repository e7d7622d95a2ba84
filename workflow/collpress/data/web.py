"""A file that web servers hold: found among what the user has already, or fetched by pooch, and checked.

The file stays in `results/cache/` under its own name, and every use checks its hash. One that a person puts there by
hand is used as it is; one with another hash is left alone until the right one takes its place. What was fetched of a
file stays beside it until the rest is there, too.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pooch
import requests

from collpress.data.access import Access
from collpress.data.answers import reason, shown
from collpress.data.credentials import token_of
from collpress.data.elsewhere import adopt
from collpress.data.progress import tell
from collpress.data.sources import UrlSource
from collpress.data.stock import part_of
from collpress.data.transfer import Transfer
from collpress.data.turn import turn
from collpress.data.wanted import Wanted, digest_of, record, recorded
from collpress.errors import CollpressError
from collpress.files import make_directory, require_room, unwritable

_HERE = Access()


def file(source: UrlSource, cache: Path, dataset: str, access: Access = _HERE) -> Path:
    """The file in `cache`, found or fetched when it is not there.

    Parameters
    ----------
    source : of one file; not one of many parts.
    dataset : who asks, for messages.

    Errors
    ------
    CollpressError: no address has it, with what each one said (no connection, an HTTP status, another length or
    checksum, a web page, a redirection that is refused), or none may be asked, and which file to put where by hand; a
    token is missing; the file is not the one that was recorded; no room, or not writable.
    """
    path = cache / source.file
    if found(source, cache, access):
        return path
    with turn(cache / f".{source.file}.lock") as mine:
        wanted = wanted_of(source, cache)
        if not wanted.fits(path):  # the one before may have fetched it
            _refuse_another_length(path, wanted, dataset)
            if access.offline:
                raise CollpressError(
                    f"{source.file} is not here, and no server may be asked (offline)",
                    where=dataset,
                    fix=f"{by_hand(wanted, path)}; or name a directory that has it with --from",
                )
            _fetch(source, wanted, path, dataset, mine)
    _record(path, wanted)
    return path


def found(source: UrlSource, cache: Path, access: Access = _HERE) -> bool:
    """Whether the file lies in `cache`; puts it there if a directory of the user's has it. Asks no server."""
    path, wanted = cache / source.file, wanted_of(source, cache)
    if not wanted.fits(path):
        make_directory(cache)
        if not adopt(wanted, path, access.directories):
            return False
    _record(path, wanted)
    return True


def wanted_of(source: UrlSource, cache: Path) -> Wanted:
    """What the file must be, as the registry says or as it was recorded at its first use."""
    sha256 = source.known_sha256 or (None if source.md5 else recorded(cache / source.file))
    aliases = tuple(PurePosixPath(urlsplit(address).path).name for address in source.addresses)
    # A compressed file is hardly longer than what is in it.
    at_most = None if source.member_bytes is None else source.member_bytes + (source.member_bytes >> 3) + (1 << 20)
    return Wanted(source.file, source.bytes, sha256, source.md5, at_most, aliases)


def by_hand(wanted: Wanted, path: Path) -> str:
    """Which file to put where."""
    return f"get the file elsewhere and put it at {path} ({wanted})"


def _record(path: Path, wanted: Wanted) -> None:
    """The first file of an unpublished checksum is trusted, in so many words; all later ones must be the same."""
    if wanted.checksum is None:
        digits = record(path)
        tell(f"{path.name}: nobody publishes its checksum; sha256 {digits} is recorded and asked for from now on")


def _refuse_another_length(path: Path, wanted: Wanted, dataset: str) -> None:
    """What lies there is replaced only by what has a checksum."""
    if wanted.checksum is None and path.is_file():
        raise CollpressError(
            f"{path} has {path.stat().st_size} bytes, expected {wanted.bytes}", where=dataset, fix="delete it"
        )


def _fetch(source: UrlSource, wanted: Wanted, path: Path, dataset: str, mine: bool) -> None:
    hint = by_hand(wanted, path)
    token = token_of(source, dataset, hint)
    part = part_of(path) if mine else path.with_name(f".{path.name}.{os.getpid()}.part")
    come = part.stat().st_size if part.is_file() else 0
    require_room(path.parent, max(0, source.size - come))
    transfer, said = Transfer(wanted, part, token), []
    for address in source.addresses:
        size = "" if wanted.bytes is None else f" ({wanted.bytes / 1e6:.1f} MB)"
        tell(f"fetching {source.file}{size} from {shown(address)}")
        try:
            _fetch_from(address, wanted, path, transfer)
            return
        except (requests.RequestException, ValueError) as error:  # the one is an OSError too, the other a bad header
            why = reason(error)
        except OSError as error:
            raise unwritable(path, error) from None
        finally:
            if not mine:
                transfer.forget()
        tell(f"  {why}")
        said.append(f"{shown(address)}: {why}")
    if part.is_file():
        said.append(f"{part.stat().st_size} bytes have come; the next try goes on there")
    if path.is_file():
        algorithm = (wanted.checksum or ("sha256", ""))[0]
        said.append(f"{path}, which is there: {path.stat().st_size} bytes, {algorithm} {digest_of(path, algorithm)}")
    raise CollpressError(
        f"cannot fetch {source.file}\n    " + "\n    ".join(said),
        where=dataset,
        fix=f"try again; without a network, {hint}",
    )


def _fetch_from(address: str, wanted: Wanted, path: Path, transfer: Transfer) -> None:
    """Fetch from one address; pooch checks the hash once more and moves the file to its place."""
    pooch.get_logger().setLevel("WARNING")  # it would announce each file in its own words
    known = None if wanted.checksum is None else ":".join(wanted.checksum)
    pooch.retrieve(address, known, path.name, path.parent, downloader=transfer)
