"""The picture of pass rates before and after a recipe."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from collector.curating.plot import COLORS, Bin, check_plot, picture
from collector.errors import UsageError

BEFORE = [Bin(0.0, 0.5, 1_200), Bin(0.5, 1.0, 300)]
AFTER = [Bin(0.0, 0.5, 0), Bin(0.5, 1.0, 40)]
NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(path: Path, title: str = "a run") -> ElementTree.Element:
    path.write_bytes(picture(path, BEFORE, AFTER, title))
    return ElementTree.fromstring(path.read_bytes())  # noqa: S314 - our own file


def texts(image: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in image.iter(f"{NAMESPACE}text")]


def bars(image: ElementTree.Element, name: str) -> list[dict[str, float]]:
    shapes = [one for one in image.iter(f"{NAMESPACE}rect") if one.get("fill") == COLORS[name]]
    return [
        {key: float(one.attrib[key]) for key in ("x", "y", "width", "height")} for one in shapes
    ]


def test_bars_stand_on_one_line_and_are_as_high_as_their_counts(tmp_path: Path) -> None:
    image = drawn(tmp_path / "plot.svg")

    first, second = bars(image, "before")
    (only,) = bars(image, "after")

    assert first["height"] == pytest.approx(4 * second["height"], abs=0.5)
    assert {round(bar["y"] + bar["height"]) for bar in (first, second, only)} == {336}
    assert first["x"] + first["width"] <= second["x"]


def test_the_picture_names_its_axes_counts_and_totals(tmp_path: Path) -> None:
    found = texts(drawn(tmp_path / "plot.svg"))
    assert {"a run", "before: 1,500 tasks", "after: 40 tasks", "1.2k", "300", "40"} <= set(found)
    assert found.count("pass rate") == found.count("tasks") == 2
    assert {"0", "0.2", "0.4", "0.6", "0.8", "1"} <= set(found)


def test_a_title_cannot_become_markup(tmp_path: Path) -> None:
    title = '<script>alert("x")</script> & \x1b[31m'
    image = drawn(tmp_path / "plot.svg", title)
    assert [one.tag for one in image.iter() if "script" in one.tag] == []
    assert texts(image)[0] == '<script>alert("x")</script> &  [31m'


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_no_tasks_and_one_pass_rate_can_be_drawn(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plot.{suffix}"
    path.write_bytes(picture(path, [Bin(0.5, 0.5, 3)], [], "a run"))
    assert path.stat().st_size > 500


def test_png_has_the_same_bars_on_a_light_background(tmp_path: Path) -> None:
    path = tmp_path / "plot.PNG"
    path.write_bytes(picture(path, BEFORE, AFTER, "Grüße"))
    with Image.open(path) as image:
        colors = {color for _, color in image.convert("RGB").getcolors(1 << 20) or []}
        assert image.size == (1920, 800)
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert {tuple(bytes.fromhex(color[1:])) for color in COLORS.values()} <= colors


def test_an_unknown_ending_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must end in \.svg or \.png"):
        check_plot(tmp_path / "plot.jpg")


def test_png_without_pillow_is_an_error_that_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install '\.\[plot\]'"):
        check_plot(tmp_path / "plot.png")
    check_plot(tmp_path / "plot.svg")
