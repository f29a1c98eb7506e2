"""A self-contained HTML page: words, tables and pictures in one file."""

import base64
import html
import io
from collections.abc import Mapping, Sequence
from urllib.parse import quote

import numpy as np
from PIL import Image

SHARPNESS = 2
"""Pixels of a figure that make up one of the page: screens of phones have as many."""

MAX_WIDTH_PX = 1040
"""Of what a page shows, and so of a figure."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --paper: #ffffff; --faint: #5d666f; --line: #d8dde2;
  --band: #f4f6f8; --bar: #2f6fde; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ebee; --paper: #16191d; --faint: #a2abb4; --line: #3a4149; --band: #1f242a;
    --bar: #6b9cf2; }
}
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 1080px; margin: 2rem auto; padding: 0 20px; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: .2rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; } h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p.lead { color: var(--faint); margin-top: 0; } p { max-width: 75ch; }
figure { margin: 1rem 0; }
figcaption { font-size: .875rem; color: var(--faint); margin-top: .3rem; max-width: 85ch; }
img, video { max-width: 100%; height: auto; border-radius: 4px; background: #fff; }
.scroll { overflow-x: auto; } .scroll img { max-width: none; display: block; }
.grid { display: grid; gap: 14px; } .grid figure { margin: 0; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { background: var(--band); font-weight: 600; }
th:first-child, td:first-child, .words td, .words th { text-align: left; }
.words td { white-space: normal; min-width: 9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 1rem 0; }
dt { color: var(--faint); } dd { margin: 0; } code { font: .9em ui-monospace, monospace; }
.key { display: inline-block; margin-right: 1.2rem; white-space: nowrap; }
.key i { display: inline-block; width: .8rem; height: .8rem; border-radius: 50%; margin-right: .4rem; }
.bar { background: var(--bar); height: .7rem; border-radius: 3px; display: inline-block; }
"""


class Page:
    """Collects the parts of a page in their order."""

    def __init__(self, title: str, lead: str) -> None:
        self._title = title
        self._parts = [f"<h1>{html.escape(title)}</h1>", f'<p class="lead">{html.escape(lead)}</p>']

    def heading(self, text: str, level: int = 2) -> None:
        """Begin a section, or with level 3 a part of one."""
        self._parts.append(f"<h{level}>{html.escape(text)}</h{level}>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>")

    def facts(self, facts: Mapping[str, str]) -> None:
        """Add what is known of the subject: a few names with a value each."""
        lines = "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in facts.items())
        self._parts.append(f"<dl>{lines}</dl>")

    def key(self, colours: Mapping[str, tuple[int, int, int]]) -> None:
        """Add what the colours of the pictures mean, RGB in 0..255."""
        marks = "".join(
            f'<span class="key"><i style="background:rgb{colour}"></i>{html.escape(name)}</span>'
            for name, colour in colours.items()
        )
        self._parts.append(f"<p>{marks}</p>")

    def picture(self, picture: bytes | np.ndarray, caption: str, *, alt: str = "") -> None:
        """Add one picture without words in it, the bytes of a PNG or an RGB array; it shrinks on a phone.

        `alt` is what is read to somebody who cannot see it, by default the caption.
        """
        self._parts.append(_figure(picture, caption, alt))

    def figure(self, png: bytes, caption: str, *, alt: str = "") -> None:
        """Add a picture with words in it, made by `figures.png_of`; it keeps its size, and scrolls."""
        self._parts.append(_figure(png, caption, alt, width_px=min(_width(png) // SHARPNESS, MAX_WIDTH_PX)))

    def pictures(self, pictures: Sequence[tuple[bytes | np.ndarray, str]], *, width_px: int = 300) -> None:
        """Add several pictures with captions, side by side, each at least so wide."""
        figures = "".join(_figure(png, caption) for png, caption in pictures)
        columns = f"grid-template-columns: repeat(auto-fill, minmax(min({width_px}px, 100%), 1fr))"
        self._parts.append(f'<div class="grid" style="{columns}">{figures}</div>')

    def video(self, source: str, caption: str) -> None:
        """Add a video that lies beside the page."""
        words = html.escape(caption)
        self._parts.append(
            f'<figure><video controls muted loop src="{html.escape(quote(source))}" aria-label="{words}">'
            f"</video><figcaption>{words}</figcaption></figure>"
        )

    def table(self, header: Sequence[str], rows: Sequence[Sequence[object]], *, words: bool = False) -> None:
        """Add a table; the first column holds words, the others numbers unless all hold words."""
        cells = [[html.escape(str(cell)) for cell in row] for row in rows]
        self._parts.append(_table(header, cells, "words" if words else ""))

    def bars(self, header: Sequence[str], amounts: dict[str, float]) -> None:
        """Add a table of amounts in seconds, each with a bar."""
        most = max(amounts.values(), default=1.0) or 1.0
        rows = []
        for name, amount in amounts.items():
            bar = f'<span class="bar" style="width:{9 * amount / most:.2f}rem"></span>'
            rows.append([html.escape(name), f"{amount:.1f} s", bar])
        self._parts.append(_table(header, rows).replace("<td><span", '<td style="text-align:left"><span'))

    def render(self) -> str:
        """Return the whole page."""
        body = "\n".join(self._parts)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="data:,">'
            f"<title>{html.escape(self._title)}</title><style>{_STYLE}</style></head>"
            f"<body>\n{body}\n</body></html>\n"
        )


def encode_picture(picture: np.ndarray) -> bytes:
    """Return an RGB array as the bytes of a JPEG."""
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, format="JPEG", quality=90, subsampling=0)
    return stream.getvalue()


def _figure(picture: bytes | np.ndarray, caption: str, alt: str = "", width_px: int = 0) -> str:
    data = picture if isinstance(picture, bytes) else encode_picture(picture)
    kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    width = f' width="{width_px}"' if width_px else ""
    image = f'<img src="{source}" alt="{html.escape(alt or caption)}"{width}>'
    if width_px:
        image = f'<div class="scroll" tabindex="0">{image}</div>'
    below = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{image}{below}</figure>"


def _width(png: bytes) -> int:
    """Pixels from left to right of a PNG."""
    return int.from_bytes(png[16:20], "big")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    table = f'<table class="{kind}">' if kind else "<table>"
    return f'<div class="scroll" tabindex="0">{table}<tr>{head}</tr>{body}</table></div>'
