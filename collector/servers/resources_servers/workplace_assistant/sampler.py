"""Random choices for generated requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

from collector.servers.resources_servers.workplace_assistant.company import TODAY
from collector.servers.resources_servers.workplace_assistant.tables import Record


@dataclass(frozen=True)
class Sampler:
    """Chooses at random what a request is about."""

    rng: Random
    tables: dict[str, list[Record]]

    def choose(self, choices: Any) -> Any:
        """Return one of the choices."""
        return self.rng.choice(list(choices))

    def choose_two(self, choices: Any) -> Any:
        """Return two different choices."""
        return self.rng.sample(list(choices), 2)

    def choose_record(self, table: str) -> Record:
        """Return one record of a table."""
        return self.rng.choice(self.tables[table])

    def find(self, table: str, **values: Any) -> list[Record]:
        """Return all records of a table that have these values."""
        return [record for record in self.tables[table] if values.items() <= record.items()]

    def choose_day(self, first: int, last: int) -> str:
        """Return a day; `first` and `last` count days from today."""
        return f"{TODAY + timedelta(days=self.rng.randrange(first, last)):%Y-%m-%d}"
