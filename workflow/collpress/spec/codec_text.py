"""How a campaign writes a codec: its name, and the settings that are not as usual, as in int4(group=64, seed=7)."""

from __future__ import annotations

import re

from collpress.errors import CollpressError

PARAMETER_NAME = "[a-z][a-z0-9_]*"
PARAMETER_VALUE = "[A-Za-z0-9.+-]+"
_ALLOWED = "a name such as zfp, a pattern such as *, none, or a name with settings: int4(group=64, rounding=nearest)"


def canonical_codec(value: object, name_pattern: str) -> str:
    """A codec in its one spelling: settings in alphabetical order, numbers as short as they can be.

    >>> canonical_codec("int4( rounding=nearest, group = 064 )", "[a-z0-9-]+")
    'int4(group=64,rounding=nearest)'
    """
    if value is None:
        raise CollpressError("codec is empty", allowed=_ALLOWED, fix="write none if none is meant")
    found = re.fullmatch(rf"\s*({name_pattern})\s*(?:\((.*)\))?\s*", value) if isinstance(value, str) else None
    if found is None:
        raise CollpressError(f'"{value}" cannot name a codec', allowed=_ALLOWED)
    name, inside = found.groups()
    if inside is None:
        return str(name)
    settings: dict[str, str] = {}
    for setting in inside.split(","):
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not re.fullmatch(PARAMETER_NAME, key) or not re.fullmatch(PARAMETER_VALUE, text):
            raise CollpressError(f'"{setting.strip()}" in "{value}" is not NAME=VALUE', allowed=_ALLOWED)
        if key in settings:
            raise CollpressError(f'"{value}" gives {key} twice', allowed="each setting once")
        settings[key] = _short(text)
    if any(c in name for c in "*?["):
        raise CollpressError(f'"{value}" gives settings to a pattern', allowed="settings behind one codec's name")
    return with_settings(name, settings)


def codec_name(text: str) -> str:
    """The name alone.

    >>> codec_name("int4(group=64)")
    'int4'
    """
    return text.partition("(")[0]


def codec_settings(text: str) -> dict[str, str]:
    """What a canonical text sets.

    >>> codec_settings("int4(group=64,rounding=nearest)")
    {'group': '64', 'rounding': 'nearest'}
    """
    inside = text.partition("(")[2].removesuffix(")")
    return dict(setting.split("=", 1) for setting in inside.split(",")) if inside else {}


def with_settings(name: str, settings: dict[str, str]) -> str:
    """The canonical text of a name and settings."""
    inside = ",".join(f"{key}={settings[key]}" for key in sorted(settings))
    return f"{name}({inside})" if inside else name


def _short(text: str) -> str:
    try:
        return f"{float(text):.17g}" if float(f"{float(text):g}") != float(text) else f"{float(text):g}"
    except ValueError:
        return text
