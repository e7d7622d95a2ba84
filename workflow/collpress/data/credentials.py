"""A token that a server wants to see: taken from the environment, shown to one host, never printed or written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from collpress.data.sources import UrlSource
from collpress.errors import CollpressError


@dataclass(frozen=True)
class Token:
    """The token that the environment variable `name` holds; its own text does not say it."""

    name: str
    hosts: frozenset[str]
    page: str | None
    _value: str = field(repr=False)

    def headers_for(self, address: str) -> dict[str, str]:
        """The header for an address of one of the registered hosts; none for any other."""
        return {"Authorization": f"Bearer {self._value}"} if urlsplit(address).netloc in self.hosts else {}

    @property
    def refusal(self) -> str:
        """What to do when the server does not like it."""
        return f"; the token in {self.name} does not open it: {_how(self.name, self.page)}"


def token_of(
    source: UrlSource, dataset: str, by_hand: str, environment: Mapping[str, str] = os.environ
) -> Token | None:
    """The token for a source; None when it needs none.

    Parameters
    ----------
    by_hand : which file to put where instead.

    Errors
    ------
    CollpressError: the variable is not set, or what it holds cannot be a token.
    """
    if source.token is None:
        return None
    value = environment.get(source.token, "").strip()
    if not value:
        raise CollpressError(
            f"{source.file} is given only to those who accepted its licence, and {source.token} is not set",
            where=dataset,
            fix=f"{_how(source.token, source.licence_page)}; or {by_hand}",
        )
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise CollpressError(
            f"what {source.token} holds cannot be a token",
            where=dataset,
            allowed="letters, digits and signs without spaces",
            fix=f"set {source.token} to the token alone",
        )
    hosts = frozenset(urlsplit(address).netloc for address in source.addresses)
    return Token(source.token, hosts, source.licence_page, value)


def _how(name: str, page: str | None) -> str:
    where = f" at {page}" if page else ""
    return f"accept the licence{where}, make a token for reading there, and set {name} to it"
