"""From a model's complaints to messages for people: file, line, field, what is allowed, and what was likely meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from collpress.errors import CollpressError, did_you_mean
from collpress.spec.quantities import MOST_DIGITS, is_too_long

if TYPE_CHECKING:
    from collpress.spec.document import Document

T = TypeVar("T")
LONGEST_SHOWN = 60
"""Letters of a value that a message repeats."""
_KINDS = {
    "model_": "a mapping",
    "dict_": "a mapping",
    "mapping_": "a mapping",
    "tuple_": "a list",
    "list_": "a list",
    "string_type": "text",
    "int_": "a whole number",
    "float_": "a number",
    "bool_": "true or false",
}
"""How pydantic's types of errors begin, and what was wanted."""


def as_field_error(parse: Callable[[Any], T]) -> Callable[[Any], T]:
    """Make a parser that raises CollpressError fit for a pydantic model, which gathers the errors of all fields."""

    def wrapped(value: Any) -> T:
        try:
            return parse(value)
        except CollpressError as error:
            context = {"what": error.what, "allowed": error.allowed, "fix": error.fix, "at": error.at}
            raise PydanticCustomError("collpress", "{what}", context) from None

    return wrapped


def combined(errors: Sequence[CollpressError], path: str) -> CollpressError:
    """One error for all: a single one as it is, several as a list."""
    if len(errors) == 1:
        return errors[0]
    listed = "\n".join(str(error) for error in errors)
    return CollpressError(f"{len(errors)} mistakes in {path}:\n{listed}")


def explain(error: ValidationError, model: type[BaseModel], document: Document) -> CollpressError:
    """All mistakes that a model found in a document, as one error."""
    found = error.errors()
    inner = {tuple(details["loc"][:n]) for details in found for n in range(len(details["loc"]))}
    # What is said of a whole whose parts are wrong only follows from them.
    causes = [details for details in found if tuple(details["loc"]) not in inner]
    return combined([_one(details, model, document) for details in causes], document.path)


def _one(details: Any, model: type[BaseModel], document: Document) -> CollpressError:
    place = tuple(part for part in details["loc"] if part != "[key]")
    context = details.get("ctx") or {}
    kind = details["type"]
    if kind == "extra_forbidden":
        known = _fields_at(model, place[:-1])
        name = str(place[-1])
        return CollpressError(
            f'unknown key "{name}"',
            where=document.where(*place),
            allowed=", ".join(known),
            fix=did_you_mean(name, known),
        )
    if kind == "missing":
        return CollpressError(
            f'the key "{place[-1]}" is missing', where=document.where(*place[:-1]), fix=f"add {place[-1]}:"
        )
    if kind == "collpress":
        where = document.where(*place, *context["at"])
        return CollpressError(context["what"], where=where, allowed=context["allowed"], fix=context["fix"])
    if kind == "literal_error":
        allowed = str(context.get("expected", "")).replace("'", "")
        word = _cut(str(details["input"]))
        names = [name.strip() for name in allowed.replace(" or ", ", ").split(",")]
        return CollpressError(
            f'"{word}" is not known here', where=document.where(*place), allowed=allowed, fix=did_you_mean(word, names)
        )
    if kind.startswith("int_") and is_too_long(details["input"]):
        what = f'the number "{_cut(str(details["input"]))}" is too large'
        return CollpressError(what, where=document.where(*place), allowed=f"at most {MOST_DIGITS} digits")
    return CollpressError(_plain(details), where=document.where(*place))


def _plain(details: Any) -> str:
    value = details.get("input")
    if isinstance(value, bool):
        return f"{_wanted(details)}; it is {str(value).lower()}"
    return (
        f'{_wanted(details)}; it is "{_cut(str(value))}"' if isinstance(value, str | int | float) else _wanted(details)
    )


def _wanted(details: Any) -> str:
    kind, context = str(details["type"]), details.get("ctx") or {}
    for start, word in _KINDS.items():
        if kind.startswith(start):
            return f"this must be {word}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        return f"this must match the pattern {context['pattern']}"
    if kind == "too_short":
        least = context["min_length"]
        return f"this must have at least {least} {'entry' if least == 1 else 'entries'}"
    return str(details["msg"]).replace("Input should be", "this must be").replace("String should", "this must")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _fields_at(model: type[BaseModel], place: Iterable[str | int]) -> list[str]:
    """Names that the model at `place` allows."""
    current: Any = model
    for part in place:
        found = _model_in(current)
        if current is found and found is not None:
            info = next((f for name, f in found.model_fields.items() if part in (name, f.alias)), None)
            current = info.annotation if info else None
        else:
            current = found  # the part names an entry of a mapping or of a list
    found = _model_in(current)
    return [info.alias or name for name, info in found.model_fields.items()] if found else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation is, or holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in getattr(annotation, "__args__", ()) if (m := _model_in(a)) is not None), None)
