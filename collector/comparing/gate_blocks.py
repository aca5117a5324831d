"""Lay out the judgement of a gate for people."""

from __future__ import annotations

from collections.abc import Iterator

from collector.comparing.gate import GateReport, RuleCheck
from collector.terminal import label
from collector.terminal.blocks import Block, Line, Style, Styled, TextColumn, TextTable

STYLES: dict[str, Style] = {"pass": "good", "fail": "bad", "inconclusive": "caution"}
SENTENCES = {
    "pass": "The gate is passed.",
    "fail": "The gate fails.",
    "inconclusive": "The gate is inconclusive: the data cannot tell whether it is passed.",
}
COLUMNS = (
    TextColumn("judgement"),
    TextColumn("tier"),
    TextColumn("rule", overflow="wrap"),
    TextColumn("why", overflow="wrap"),
)


def gate_blocks(report: GateReport) -> Iterator[Block]:
    """Lay out the gate: one line per rule."""
    yield Line(Styled(SENTENCES[report.judgement], STYLES[report.judgement]))
    rows = [
        (
            Styled(judgement_text(check), STYLES[check.judgement]),
            check.tier,
            label(check.rule, 60),
            f"{check.reason}{waiver_text(check)}",
        )
        for check in report.checks
    ]
    yield TextTable(COLUMNS, rows, indent=2)
    yield Line()


def judgement_text(check: RuleCheck) -> str:
    """Return the judgement, and whether it is waived."""
    return f"{check.judgement} (waived)" if check.waiver else check.judgement


def waiver_text(check: RuleCheck) -> str:
    """Return the reason of a waiver, or since when it no longer counts."""
    if check.waiver:
        return f"; waived until {check.waiver.until}: {label(check.waiver.reason, 200)}"
    if check.expired_waiver:
        return f"; the waiver ended on {check.expired_waiver.until}"
    return ""
