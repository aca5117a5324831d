"""Render a template as a page."""

from __future__ import annotations

import functools
from typing import Any

import jinja2
from markupsafe import Markup
from starlette.responses import HTMLResponse

from collector import __version__
from collector.terminal import counted_noun
from collector.terms import TERMS
from collector.viewer import text
from collector.viewer.links import Links


@functools.cache
def environment() -> jinja2.Environment:
    """Return the templates; what they show is escaped and visible, unless it is marked as safe."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("collector.viewer"),
        autoescape=True,
        finalize=_show_hidden,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(text.FILTERS)
    templates.globals.update(
        interval=text.interval,
        counted=counted_noun,
        version=__version__,
        Markup=Markup,
        terms=TERMS,
    )
    return templates


def _show_hidden(value: Any) -> Any:
    """Replace hidden characters in a text that no filter has made safe.

    So a template cannot forget it. A field that a form sends back needs the filter `exact`.
    """
    return value if hasattr(value, "__html__") else text.visible_text(value)


def render(template: str, *, links: Links | None = None, **data: Any) -> str:
    """Return the HTML of a page."""
    return environment().get_template(template).render(links=links or Links(), **data)


def page(template: str, *, status: int = 200, **data: Any) -> HTMLResponse:
    """Return a page as a response."""
    # UTF-8 cannot encode half of a surrogate pair
    html = render(template, **data).encode("utf-8", "replace")
    return HTMLResponse(html, status_code=status)


def problem_page(title: str, message: str, *, status: int, **data: Any) -> HTMLResponse:
    """Return a page that says what is wrong, where, and what to do."""
    return page("problem.html", status=status, title=title, message=message, **data)
