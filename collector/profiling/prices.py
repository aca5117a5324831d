"""Read the prices of tokens from the file that --prices names."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from collector import yaml_values
from collector.errors import UsageError
from collector.profiling.statistics import PriceList

HINT = (
    "  write one entry per model: my-model: {input: 0.5, output: 1.5, cached_input: 0.1},"
    " in money per million tokens"
)
REASONS = {
    "missing": "is missing",
    "extra_forbidden": "is unknown",
    "float_type": "is not a number",
    "finite_number": "is not finite",
    "greater_than_equal": "is negative",
    "string_type": "is not the name of a model: put it in quotes",
}


class Price(BaseModel):
    """The prices of one model, per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached_input: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    def row(self, model: str) -> tuple[str, float, float, float]:
        """Return the row for the dbt models; cached input costs as other input by default."""
        cached = self.input if self.cached_input is None else self.cached_input
        return model, self.input, cached, self.output


def read_prices(path: Path) -> PriceList:
    """Read a YAML file with the prices of models; raise FileError or UsageError if it is wrong."""
    content = yaml_values.read_file(path, "price list")
    if not isinstance(content, dict) or not content:
        raise UsageError(f"{path} has no prices\n{HINT}")
    try:
        prices = TypeAdapter(dict[str, Price]).validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "[key]")
        reason = REASONS.get(first["type"], "is not a price")
        raise UsageError(f"{path}: {where} {reason}\n{HINT}") from error
    rows = tuple(price.row(model) for model, price in prices.items())
    return PriceList(str(path.absolute()), rows)
