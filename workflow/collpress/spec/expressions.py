"""Conditions on factors, for `when` and `exclude`: parsed into a tree, checked, and walked; never evaluated as Python.

    codec == "zfp" and message_bytes >= 4Mi or ranks in [2, 4] and not dtype == "int32"

Names are factors; numbers may be sizes (`64Ki`); texts stand in quotes. Comparing a number with a text is an error when
the condition is read, not when it is used.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from collpress.errors import CollpressError, did_you_mean
from collpress.spec.factors import FACTORS, Value
from collpress.spec.quantities import parse_size

LONGEST = 2000
DEEPEST = 60
_LARGEST_POWER = 64
_LARGEST_NUMBER = 1 << 128

_GRAMMAR = r"""
?start: either
?either: both ("or" both)*
?both: negation ("and" negation)*
?negation: "not" negation -> negate | comparison
?comparison: sum | sum COMPARISON sum -> compare
    | sum "in" list -> contained | sum "not" "in" list -> missing
list: "[" sum ("," sum)* ","? "]"
?sum: product (SIGN product)*
?product: factor (STAR factor)*
?factor: SIGN factor -> signed | power
?power: atom (_POWER factor)?
?atom: SIZE -> size | NUMBER -> number | TEXT -> text | NAME -> name | "(" either ")"
COMPARISON: "==" | "!=" | "<=" | ">=" | "<" | ">"
SIGN: "+" | "-"
_POWER.2: "**"
STAR: "//" | "*" | "/" | "%"
SIZE: /\d+(\.\d+)?(Ki|Mi|Gi|Ti|Pi)B?/
NUMBER: /\d+(\.\d+)?([eE][-+]?\d+)?/
TEXT: /"[^"\n]*"|'[^'\n]*'/
NAME: /(?!(and|or|not|in)\b)[A-Za-z_]\w*/
%ignore /[ \t\r\n]+/
"""

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}


@dataclass(frozen=True)
class _Node:
    """`kind` of result: truth, number or text; `value` computes it; `factor` names the factor if it is one alone."""

    kind: str
    value: Callable[[Mapping[str, Value]], Any]
    factor: str = ""
    column: int = 1
    literal: str | None = None


@dataclass(frozen=True)
class Condition:
    """A checked condition; call `holds` with the factors of a point."""

    text: str
    _root: _Node

    def holds(self, factors: Mapping[str, Value]) -> bool:
        try:
            return bool(self._root.value(factors))
        except (ArithmeticError, ValueError) as error:
            point = ", ".join(f"{k}={v}" for k, v in factors.items())
            raise CollpressError(f"the condition `{self.text}` cannot be computed: {error}", where=point) from None


@lru_cache(maxsize=256)
def parse_condition(text: str) -> Condition:
    """Parse and check a condition; errors name the column."""
    if len(text) > LONGEST:
        raise CollpressError("the condition is too long", allowed=f"{LONGEST} characters")
    from lark import Token
    from lark.exceptions import UnexpectedEOF, UnexpectedInput

    try:
        tree = _parser().parse(text)
    except UnexpectedEOF:
        raise CollpressError(f"the condition `{text}` stops too early", allowed=_ALLOWED) from None
    except UnexpectedInput as error:
        token = getattr(error, "token", None)
        if isinstance(token, Token) and token.type == "$END":
            raise CollpressError(f"the condition `{text}` stops too early", allowed=_ALLOWED) from None
        column = getattr(error, "column", 1)
        rest = text[max(0, column - 1) :][:12]
        hint = 'use "==" to compare' if rest.startswith("=") else ""
        raise CollpressError(
            f"the condition `{text}` makes no sense at column {column}: `{rest}`", allowed=_ALLOWED, fix=hint
        ) from None
    root = _Checker(text).node(tree, 0)
    if root.kind != "truth":
        raise CollpressError(f"the condition `{text}` is a {root.kind}, neither true nor false", allowed=_ALLOWED)
    return Condition(text, root)


_ALLOWED = 'comparisons of factors, joined by and, or, not: codec == "zfp" and message_bytes >= 4Mi; ranks in [2, 4]'


@lru_cache(maxsize=1)
def _parser() -> Any:
    from lark import Lark  # only campaigns with conditions pay for it

    return Lark(_GRAMMAR, parser="lalr", propagate_positions=True, maybe_placeholders=False)


class _Checker:
    """Walks lark's tree once and gives closures; kinds are checked on the way."""

    def __init__(self, text: str) -> None:
        self.text = text

    def node(self, tree: Any, depth: int) -> _Node:
        if depth > DEEPEST:
            raise CollpressError("the condition is nested too deeply", allowed=f"{DEEPEST} levels")
        handler: Callable[[Any, int], _Node] = getattr(self, f"_{tree.data}")
        return handler(tree, depth + 1)

    def _either(self, tree: Any, depth: int) -> _Node:
        return self._joined(tree, depth, any)

    def _both(self, tree: Any, depth: int) -> _Node:
        return self._joined(tree, depth, all)

    def _joined(self, tree: Any, depth: int, join: Callable[[Any], bool]) -> _Node:
        parts = [self._expect(self.node(c, depth), "truth") for c in tree.children]
        return _Node("truth", lambda f: join(p.value(f) for p in parts), column=tree.meta.column)

    def _negate(self, tree: Any, depth: int) -> _Node:
        part = self._expect(self.node(tree.children[0], depth), "truth")
        return _Node("truth", lambda f: not part.value(f), column=part.column)

    def _compare(self, tree: Any, depth: int) -> _Node:
        left, sign, right = (
            self.node(tree.children[0], depth),
            str(tree.children[1]),
            self.node(tree.children[2], depth),
        )
        left, right = self._alike(left, right), self._alike(right, left)
        if sign not in ("==", "!=") and left.kind != "number":
            raise self._error(left, f"`{sign}` compares numbers only", "== and != for texts")
        compare = _COMPARE[sign]
        return _Node("truth", lambda f: compare(left.value(f), right.value(f)), column=left.column)

    def _contained(self, tree: Any, depth: int) -> _Node:
        left = self.node(tree.children[0], depth)
        items = [self._alike(item, left) for item in (self.node(c, depth) for c in tree.children[1].children)]
        for item in items:
            self._alike(left, item)
        return _Node("truth", lambda f: left.value(f) in [i.value(f) for i in items], column=left.column)

    def _missing(self, tree: Any, depth: int) -> _Node:
        inside = self._contained(tree, depth)
        return _Node("truth", lambda f: not inside.value(f), column=inside.column)

    def _sum(self, tree: Any, depth: int) -> _Node:
        total = self._expect(self.node(tree.children[0], depth), "number")
        for sign, operand in zip(tree.children[1::2], tree.children[2::2], strict=True):
            total = self._binary(str(sign), total, self._expect(self.node(operand, depth), "number"))
        return total

    _product = _sum

    def _power(self, tree: Any, depth: int) -> _Node:
        base, exponent = (self._expect(self.node(c, depth), "number") for c in tree.children)
        return self._binary("**", base, exponent)

    def _signed(self, tree: Any, depth: int) -> _Node:
        operand = self._expect(self.node(tree.children[1], depth), "number")
        return operand if tree.children[0] == "+" else self._binary("-", _Node("number", lambda _: 0), operand)

    @staticmethod
    def _binary(sign: str, left: _Node, right: _Node) -> _Node:
        compute = _ARITHMETIC[sign]

        def value(factors: Mapping[str, Value]) -> Any:
            a, b = left.value(factors), right.value(factors)
            if sign == "**" and abs(b) > _LARGEST_POWER:
                raise ArithmeticError(f"the exponent {b} is larger than {_LARGEST_POWER}")
            result = compute(a, b)
            if isinstance(result, complex) or abs(result) > _LARGEST_NUMBER:
                raise ArithmeticError("a number in between is not real or too large")
            return result

        return _Node("number", value, column=left.column)

    def _size(self, tree: Any, _: int) -> _Node:
        number = parse_size(str(tree.children[0]))
        return _Node("number", lambda _: number, column=tree.meta.column)

    def _number(self, tree: Any, _: int) -> _Node:
        text = str(tree.children[0])
        number: int | float = int(text) if text.isdigit() and len(text) < 40 else float(text)
        return _Node("number", lambda _: number, column=tree.meta.column)

    def _text(self, tree: Any, _: int) -> _Node:
        literal = str(tree.children[0])[1:-1]
        return _Node("text", lambda _: literal, column=tree.meta.column, literal=literal)

    def _name(self, tree: Any, _: int) -> _Node:
        name = str(tree.children[0])
        here = _Node("text", lambda f: f[name], factor=name, column=tree.meta.column)
        if name not in FACTORS:
            hint = did_you_mean(name, FACTORS) or f'put texts in quotes: "{name}"'
            raise self._error(here, f'unknown factor "{name}"', ", ".join(FACTORS), hint)
        return _Node("number" if FACTORS[name].numeric else "text", here.value, factor=name, column=here.column)

    def _alike(self, node: _Node, other: _Node) -> _Node:
        """`node`, checked to be of the kind of `other`; a text beside a factor takes the factor's canonical form."""
        if node.kind != other.kind:
            wrong = other if node.factor else node
            right = node if wrong is other else other
            hint = (
                f"write {wrong.literal} without quotes" if wrong.literal is not None and right.kind == "number" else ""
            )
            raise self._error(
                wrong, f"a {wrong.kind} cannot be compared with a {right.kind}", f"two {right.kind}s", hint
            )
        if node.literal is None or not other.factor:
            return node
        try:
            canonical = FACTORS[other.factor].parse(node.literal)
        except CollpressError as error:
            raise self._error(node, error.what, error.allowed, error.fix) from None
        return _Node("text", lambda _: canonical, column=node.column, literal=node.literal)

    def _expect(self, node: _Node, kind: str) -> _Node:
        if node.kind != kind:
            raise self._error(node, f"a {node.kind} stands where a {kind} is needed", _ALLOWED)
        return node

    def _error(self, node: _Node, what: str, allowed: str, fix: str = "") -> CollpressError:
        return CollpressError(f"in the condition `{self.text}`, column {node.column}: {what}", allowed=allowed, fix=fix)
