"""Run `python -m collector` as `spotter`."""

from collector.cli import main

main()
