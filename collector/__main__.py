"""Run `python -m collector` as `spotter`."""

from collector.entry import spotter

spotter()
