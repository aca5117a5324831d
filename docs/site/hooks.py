"""MkDocs hooks: add the pages from outside of docs/, and dbt's page of the models."""

from __future__ import annotations

import base64
import json
import logging
import os
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
TOP_PAGES = {
    "index.md": "README.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
ICON = ROOT / "collector" / "viewer" / "static" / "icon.svg"
ICON_DATA = base64.b64encode(ICON.read_bytes()).decode()
LICENCE = """---
hide: [toc]
search: {{exclude: true}}
---
# Licence

```text
{text}
```
"""
# dbt's page needs nothing from the network, but loads a tracker if usage statistics are on
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
)
HEAD = "<head>"
# dbt's page requests its icons by template names, and shows only its menu on a phone
REPAIRS = {
    "<title>dbt Docs</title>": "<title>Models and columns - Spotter</title>",
    '<link rel="canonical" href="/overview/"/>': "",
    "width=device-width,minimum-scale=1,maximum-scale=1,initial-scale=1": "width=1100",
    """<link rel="shortcut icon" href="${require('./assets/favicons/favicon.ico')}"/>""": (
        f'<link rel="icon" href="data:image/svg+xml;base64,{ICON_DATA}"/>'
    ),
    '<use xlink:href="{{': '<use ng-attr-href="{{',
}


def on_startup(*, command: str, **_: object) -> None:
    """Print only warnings: with MkDocs' own --quiet, --strict would not notice them."""
    if command == "build":
        logging.getLogger("mkdocs").setLevel(logging.WARNING)


def on_post_template(_output: str, **_: object) -> str:
    """Leave out the error page and the site map, because both need the address of the site."""
    return ""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages in the root of the repository, the icon and dbt's page."""
    for name, source in TOP_PAGES.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "assets/icon.svg", abs_src_path=str(ICON)))
    licence = LICENCE.format(text=(ROOT / "LICENSE").read_text(encoding="utf-8").strip("\n"))
    files.append(File.generated(config, "LICENSE.md", content=licence))
    page = dbt_page(ROOT / config.extra["dbt_page"])
    files.append(File.generated(config, "dbt/index.html", content=page))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Change the links, because all pages are in one folder on the site."""
    if page.file.src_uri in TOP_PAGES:
        return markdown.replace("](docs/", "](").replace("](LICENSE)", "](LICENSE.md)")
    return markdown.replace("](../", "](")


def dbt_page(path: Path) -> str:
    """Read dbt's page, and remove its network access and the paths of this machine."""
    if not path.is_file():
        raise PluginError(f"no dbt page at {path}: run `make docs`, which builds it first")
    text = path.read_text(encoding="utf-8")
    if HEAD not in text:
        raise PluginError(f"dbt's page {path} has changed: it has no {HEAD}")
    for old, new in REPAIRS.items():
        text = text.replace(old, new)
    for folder in (path.parent, ROOT):
        text = text.replace(json.dumps(f"{folder}{os.sep}")[1:-1], "")
        text = text.replace(json.dumps(str(folder)), '""')
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return text.replace(HEAD, HEAD + policy, 1)
