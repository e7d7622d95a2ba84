"""One question to a web server: redirections are followed only to where one may ask, tokens stay with their host."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pooch
import requests

from collpress.data.answers import AgainError, RefusedError, reason, shown
from collpress.data.credentials import Token
from collpress.data.sources import DOI, may_be_asked
from collpress.printable import one_line

_CONNECT_S, _SILENCE_S = 10.0, 60.0
"""Patience with a server that does not answer, and with one that stops sending."""
_REDIRECTIONS = 10
_LONGEST_WAIT_S = 60.0
"""What a server may ask for before the next try."""
_WORDS = 120


def resolved(address: str) -> str:
    """The address of a file in a repository that a DOI names, as pooch finds it; any other address as it is.

    Errors: RefusedError, with what the repository says.
    """
    if (found := DOI.fullmatch(address)) is None:
        return address
    try:
        there = str(pooch.downloaders.doi_to_repository(found[1]).download_url(found[2]))
    except requests.RequestException as error:
        raise RefusedError(reason(error)) from None
    except (ValueError, KeyError) as error:
        raise RefusedError(one_line(error)[:_WORDS]) from None
    if not may_be_asked(there):
        raise RefusedError(f"it leads to {shown(there)}, which may not be asked")
    return there


def ask(address: str, token: Token | None, have: int, validator: str | None) -> requests.Response:
    """The answer to a request for a file, or for what follows its first `have` bytes; its body is not read yet.

    Parameters
    ----------
    validator : the version that those bytes are of, if the server named it: of another one it then sends the whole.

    Returns an answer with status 200 or 206.

    Errors
    ------
    AgainError where it may help to ask again, RefusedError where not.
    """
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers |= {"Range": f"bytes={have}-"} | ({"If-Range": validator} if validator else {})
    here = address
    for _ in range(_REDIRECTIONS + 1):
        response = _get(here, headers | (token.headers_for(here) if token else {}))
        if not response.is_redirect:
            return _judged(response, token, have)
        response.close()
        there = urljoin(here, response.headers["location"])
        if not may_be_asked(there) or urlsplit(there).scheme != urlsplit(here).scheme:
            raise RefusedError(f"it redirects to {shown(there)}, which may not be asked")
        here = there
    raise RefusedError(f"it redirects more than {_REDIRECTIONS} times")


def _get(address: str, headers: dict[str, str]) -> requests.Response:
    try:
        # The last argument keeps requests from replacing our header by what ~/.netrc says of the host.
        return requests.get(
            address,
            headers=headers,
            timeout=(_CONNECT_S, _SILENCE_S),
            stream=True,
            allow_redirects=False,
            auth=_as_it_is if "Authorization" in headers else None,
        )
    except requests.ReadTimeout as error:
        raise AgainError(reason(error)) from None
    except requests.ConnectionError as error:
        # Nobody there, an unknown name, no way there, a wrong certificate: the next address is the better try.
        text = reason(error)
        if any(word in text.lower() for word in ("reset", "aborted", "broken off")):
            raise AgainError(text) from None
        raise RefusedError(text) from None
    except (requests.RequestException, ValueError) as error:
        raise RefusedError(reason(error)) from None


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _judged(response: requests.Response, token: Token | None, have: int) -> requests.Response:
    status = response.status_code
    if status == 200 or (status == 206 and have):
        return response
    response.close()
    text = f"HTTP status {status} {one_line(response.reason)[:_WORDS]}"
    if status in {408, 429} or status >= 500:
        raise AgainError(text, _wait(response.headers.get("Retry-After", "")))
    if status == 416 and have:
        raise OutOfRangeError(text)
    raise RefusedError(text + (token.refusal if token and status in {401, 403} else ""))


class OutOfRangeError(AgainError):
    """There is nothing behind the bytes that are there."""


def _wait(text: str) -> float:
    return min(float(text), _LONGEST_WAIT_S) if text.strip().isdecimal() else 0.0
