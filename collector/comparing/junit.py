"""Write comparisons as JUnit XML, which CI systems show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from collector.atomic_files import write_file
from collector.comparing.gate import GateReport
from collector.comparing.gate_blocks import judgement_text, waiver_text
from collector.comparing.request import ComparisonResult
from collector.comparing.results import Comparison
from collector.comparing.wording import (
    SCORE_NAMES,
    explanations,
    figure,
    interval_of,
    interval_text,
    p_text,
    p_value_of,
    verdict_sentence,
)
from collector.terminal import printable
from collector.warehouse.sql import Row

NAME = "spotter compare"
HEAD_BYTES = 200


def write_junit(path: Path, result: ComparisonResult, gate: GateReport | None) -> None:
    """Write one suite per comparison, with a case per score and slice, and one for the gate."""
    root = Element("testsuites", name=NAME)
    for comparison in result.comparisons:
        _add_suite(root, _title(comparison), _cases(comparison))
    if gate:
        _add_suite(root, "gate", _gate_cases(gate))
    content = tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
    write_file(path.absolute(), content, replaces=_is_junit)


def _is_junit(path: Path) -> bool:
    with path.open("rb") as file:
        return NAME.encode() in file.read(HEAD_BYTES)


def _add_suite(root: Element, name: str, cases: Iterator[Element]) -> None:
    suite = SubElement(root, "testsuite", name=printable(name))
    suite.extend(cases)
    suite.set("tests", str(len(suite)))
    for count, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(count, str(len(suite.findall(f"./testcase/{tag}"))))
    suite.set("errors", "0")


def _title(comparison: Comparison) -> str:
    return f"{comparison.candidate.name} against {comparison.baseline.name}"


def _cases(comparison: Comparison) -> Iterator[Element]:
    for row in comparison.rows or [comparison.primary]:
        is_all = row["slice_by"] == "all"
        where = "" if is_all else f" [{row['slice_by']} = {row['slice_value']}]"
        case = _case(_title(comparison), f"{SCORE_NAMES[row['score']]}{where}")
        text = _text(row)
        if row is comparison.primary:
            text = "\n".join([verdict_sentence(comparison), *explanations(comparison)])
        if is_worse(row):
            _add(case, "failure", f"worse: {_text(row)}", text)
        elif row["verdict"] in ("worse", "inconclusive", "not comparable"):
            reason = row["verdict"]
            if reason == "worse":
                reason = "inconclusive after Holm's adjustment for all slices"
            _add(case, "skipped", f"{reason}: {_text(row)}", text)
        yield case


def is_worse(row: Row) -> bool:
    """Tell whether a score is worse; a slice must be so among all slices of its field too."""
    if row["verdict"] != "worse" or row["slice_by"] == "all":
        return bool(row["verdict"] == "worse")
    return bool(row["p_value_holm"] is not None and row["p_value_holm"] < row["alpha"])


def _gate_cases(gate: GateReport) -> Iterator[Element]:
    for check in gate.checks:
        case = _case("gate", f"{check.rule}: {check.limit} ({check.subject})")
        text = f"{judgement_text(check)}, {check.tier}: {check.reason}{waiver_text(check)}"
        if check.counts_as == "fail":
            _add(case, "failure", text, text)
        elif check.judgement != "pass":
            _add(case, "skipped", text, text)
        yield case


def _case(group: str, name: str) -> Element:
    return Element("testcase", classname=printable(group), name=printable(name))


def _add(case: Element, tag: str, message: str, text: str) -> None:
    SubElement(case, tag, message=printable(message)).text = "\n".join(
        printable(line) for line in text.split("\n")
    )


def _text(row: Row) -> str:
    low, high = interval_of(row)
    return (
        f"{figure(row['value'])} against {figure(row['baseline_value'])},"
        f" {figure(row['difference'], is_signed=True)} ({interval_text(low, high)},"
        f" p {p_text(p_value_of(row))}, {row['task_count']:,} tasks)"
    )
