"""The campaign file: what to measure. It knows no machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationInfo, WithJsonSchema, field_validator

from collpress.errors import CollpressError
from collpress.spec.document import Document
from collpress.spec.expressions import parse_condition
from collpress.spec.factors import FACTORS, Value
from collpress.spec.mistakes import as_field_error
from collpress.spec.model import Strict
from collpress.spec.quantities import parse_duration, parse_share

Axis = tuple[Value, ...] | None


def _factor_schemas(schema: dict[str, Any]) -> None:
    """The text forms of factors, for editors."""
    schema["properties"] = {
        name: {"anyOf": [f.schema, {"type": "array", "items": f.schema, "minItems": 1}], "description": f.description}
        for name, f in FACTORS.items()
    }


class Factors(Strict):
    """Values of factors; each is one value, a range, or a list."""

    model_config = ConfigDict(json_schema_extra=_factor_schemas)

    collective: Axis = None
    algorithm: Axis = None
    codec: Axis = None
    error_bound: Axis = None
    dataset: Axis = None
    wrap: Axis = None
    dtype: Axis = None
    op: Axis = None
    message_bytes: Axis = None
    ranks: Axis = None
    nodes: Axis = None
    root: Axis = None
    buffers: Axis = None
    call: Axis = None
    imbalance: Axis = None
    segment_bytes: Axis = None
    fanout: Axis = None
    sync: Axis = None
    cache: Axis = None
    alignment: Axis = None
    backend: Axis = None
    knobs: Axis = None
    feedback: Axis = None
    target: Axis = None

    @field_validator("*", mode="before")
    @classmethod
    def _read(cls, written: Any, info: ValidationInfo) -> Axis:
        return as_field_error(FACTORS[str(info.field_name)].axis)(written)

    def given(self) -> dict[str, tuple[Value, ...]]:
        """The factors that the file names."""
        return {name: values for name in FACTORS if (values := getattr(self, name)) is not None}


def _condition(text: Any) -> str:
    if not isinstance(text, str):
        raise CollpressError(f'"{text}" is not a condition', allowed='a text such as codec == "zfp"')
    parse_condition(text)
    return text


Condition = Annotated[str, BeforeValidator(as_field_error(_condition))]


class Exclusion(Strict):
    """A cut: combinations for which `when` holds are not planned."""

    when: Condition = Field(description="a condition on factors")
    because: str | None = Field(default=None, description="shown beside each combination that this cuts")


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


def _zip_schema(schema: dict[str, Any]) -> None:
    """One group of paired factors need not be written as a list."""
    several = schema["properties"]["zip"]
    schema["properties"]["zip"] = {
        "anyOf": [several["items"], {"type": "array", "items": several["items"]}],
        "description": several["description"],
    }


class Experiment(Strict):
    """One block: factors crossed (`matrix`), paired (`zip`), cut (`exclude`, `when`)."""

    model_config = ConfigDict(json_schema_extra=_zip_schema)

    description: str | None = None
    matrix: Factors = Field(default=Factors(), description="factors that are crossed")
    zip: Annotated[tuple[Factors, ...], BeforeValidator(_listed)] = Field(
        default=(), description="factors of equal length, paired one by one"
    )
    exclude: tuple[Exclusion, ...] = Field(default=(), description="combinations that are not planned")
    when: Condition | None = Field(
        default=None, description="only combinations for which this condition holds are planned"
    )


Share = Annotated[
    float,
    BeforeValidator(as_field_error(parse_share)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                {"type": "string", "pattern": r"^\s*[0-9.]+\s*%?\s*$"},
            ]
        }
    ),
]
Duration = Annotated[
    float,
    BeforeValidator(as_field_error(parse_duration)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": r"^\s*[0-9.]+(?:[eE][-+]?[0-9]+)?\s*(?:us|ms|s|min|h)?\s*$"},
            ]
        }
    ),
]


class Measure(Strict):
    """How each point is measured."""

    launches: int = Field(
        default=5, ge=1, le=1000, strict=True, description="starts of the core; each measures every point once"
    )
    precision: Share = Field(
        default=0.05,
        description="half width of the median's 95 % confidence interval over the median, at which a launch may stop",
    )
    at_most: Duration = Field(default=2.0, le=86_400, description="a point's whole time, all launches together")
    at_least: Duration | None = Field(
        default=None,
        le=86_400,
        description="time of a point's warm-up and timed iterations, all launches together: half for each; precision "
        "ends a launch later only; by default a quarter of at_most",
    )
    min_iterations: int = Field(
        default=10, ge=1, le=10_000_000, strict=True, description="timed iterations before a launch may stop"
    )
    max_iterations: int = Field(
        default=10_000, ge=1, le=10_000_000, strict=True, description="timed iterations of a launch at most"
    )
    warmup: int = Field(
        default=5, ge=0, le=1_000_000, strict=True, description="untimed iterations before the timed ones"
    )
    samples: Literal["none", "summary", "per-rank", "all"] = Field(
        default="all", description="which single times are kept"
    )
    instrumented: int = Field(
        default=5,
        ge=0,
        le=1_000_000,
        strict=True,
        description="iterations of the separate pass that attributes time to phases",
    )

    @property
    def least(self) -> float:
        """`at_least`, or its default, s."""
        return self.at_most / 4 if self.at_least is None else self.at_least


ExperimentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
MetricPattern = Annotated[str, Field(pattern=r"^[a-z0-9_*?\[\]!]+$")]
FigureName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]


class CampaignFile(Strict):
    """A campaign: what to measure, on any platform."""

    title: str = Field(min_length=1, description="one line for people; no part of a point's identity")
    description: str | None = None
    defaults: Factors = Field(default=Factors(), description="factor values for all experiments that do not set them")
    experiments: dict[ExperimentName, Experiment] = Field(min_length=1)
    measure: Measure = Field(default=Measure(), description="how each point is measured")
    figures: tuple[FigureName, ...] = Field(default=(), description="names of the figures to draw")
    metrics: tuple[MetricPattern, ...] = Field(
        default=("*",),
        description="fidelity metrics, by name or pattern: what is measured of messages and results of real values;"
        " * stands for all that the installation and the campaign's plugins offer, [] for none",
    )
    plugins: tuple[str, ...] = Field(default=(), description="directories with plugin sources, relative to this file")


class Campaign(CampaignFile):
    """A campaign that was read: the file's content, its name (the file's stem) and where things stand in it."""

    _name: str = PrivateAttr(default="")
    _path: Path = PrivateAttr(default=Path())
    _document: Document = PrivateAttr(default=Document("", None))

    @property
    def name(self) -> str:
        return self._name

    @property
    def path(self) -> Path:
        return self._path

    def where(self, *field: str | int) -> str:
        """`FILE:LINE: field`."""
        return self._document.where(*field)


def contradictions(campaign: Campaign) -> list[CollpressError]:
    """What is wrong between fields that are right one by one."""
    errors: list[CollpressError] = []
    measure = campaign.measure
    if measure.max_iterations < measure.min_iterations:
        errors.append(
            CollpressError(
                f"max_iterations {measure.max_iterations} is below min_iterations {measure.min_iterations}",
                where=campaign.where("measure", "max_iterations"),
            )
        )
    if measure.least > measure.at_most:
        errors.append(
            CollpressError(
                f"at_least {measure.least:g} s is more than at_most {measure.at_most:g} s",
                where=campaign.where("measure", "at_least"),
                fix="raise at_most, or give a smaller at_least",
            )
        )
    for noun, names in (("figures", campaign.figures), ("metrics", campaign.metrics), ("plugins", campaign.plugins)):
        for position, name in enumerate(names):
            if name in names[:position]:
                errors.append(CollpressError(f'"{name}" stands twice', where=campaign.where(noun, position)))
    for position, name in enumerate(campaign.plugins):
        if not (campaign.path.parent / name).is_dir():
            errors.append(
                CollpressError(
                    f"the plugin directory {campaign.path.parent / name} does not exist",
                    where=campaign.where("plugins", position),
                )
            )
    for name, experiment in campaign.experiments.items():
        errors += _experiment_contradictions(campaign, name, experiment)
    return errors


def _experiment_contradictions(campaign: Campaign, name: str, experiment: Experiment) -> Iterable[CollpressError]:
    groups = [experiment.matrix.given(), *(z.given() for z in experiment.zip)]
    for position, group in enumerate(groups[1:]):
        lengths = {factor: len(values) for factor, values in group.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{factor} has {n}" for factor, n in lengths.items())
            yield CollpressError(
                f"factors that are paired must be equally long: {told}",
                where=campaign.where("experiments", name, "zip", position),
                fix="give each the same number of values; a single value belongs into matrix",
            )
    seen: set[str] = set()
    for group in groups:
        for factor in group:
            if factor in seen:
                yield CollpressError(
                    f'the factor "{factor}" is set twice',
                    where=campaign.where("experiments", name),
                    fix="keep it in matrix or in one zip",
                )
            seen.add(factor)
    given = seen | set(campaign.defaults.given())
    everything = [*groups, campaign.defaults.given()]
    collectives = next((g["collective"] for g in everything if "collective" in g), ())
    without_size = set(collectives) == {"barrier"}
    for known in FACTORS.values():
        if known.default is None and known.name not in given and not (without_size and known.name == "message_bytes"):
            yield CollpressError(
                f'the factor "{known.name}" is missing',
                where=campaign.where("experiments", name),
                fix=f"add {known.name}: to matrix, zip or the campaign's defaults ({known.description})",
            )
    algorithms = next((g["algorithm"] for g in everything if "algorithm" in g), ())
    if "codec" not in given and any(str(a).startswith("compressed:") for a in algorithms):
        yield CollpressError(
            "a compressed: algorithm needs a codec",
            where=campaign.where("experiments", name),
            fix="add codec: to matrix; the codec none copies, as a baseline",
        )
