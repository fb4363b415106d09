"""Hooks of mkdocs: pages that are made from the code, from notebooks and from results when the site is built.

Nothing of this is kept in the repository, so nothing of it can differ from what it describes.
"""

import html
import re
import sys
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

sys.path[:0] = [str(Path(__file__).parent)]
from notebook_pages import as_markdown  # noqa: E402
from reference_pages import command_line, module_page, overview, reference_modules  # noqa: E402

ROOT = Path(__file__).parents[2]
SETS = ("aids", "mutagenicity", "nci1")
PICTURES = ["results/quality/frontier.svg", *(f"results/paper/tradeoff-{name}.png" for name in SETS)]
NETWORK_SCRIPT, SITE_SCRIPT = "https://unpkg.com/iframe-worker/shim", "assets/search_worker.js"
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add a page for each public module to the navigation."""
    (reference,) = (entry["Reference"] for entry in config.nav or [] if "Reference" in entry)
    reference += [{name: f"reference/{name}.md"} for name in reference_modules()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here, and the pictures of the results that pages show."""
    pages = {f"reference/{name}.md": module_page(name) for name in reference_modules()}
    pages |= {"reference/index.md": overview(), "reference/cli.md": command_line()}
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        pages[f"notebooks/{notebook.stem}.md"] = as_markdown(notebook)
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    for path in PICTURES:
        files.append(File.generated(config, f"figures/{Path(path).name}", abs_src_path=str(ROOT / path)))
    return files


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas into MathML, which browsers show without a script."""

    def formula(match: re.Match[str]) -> str:
        return convert(html.unescape(match[2]), display="block" if match[1] == "div" else "inline")

    return FORMULA.sub(formula, content)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Take the script for searching without a server from this site instead of from the network."""
    return output.replace(NETWORK_SCRIPT, get_relative_url(SITE_SCRIPT, page.url))


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Do the same for pages that have no Markdown, such as 404.html."""
    return output_content.replace(NETWORK_SCRIPT, f"/{SITE_SCRIPT}")
