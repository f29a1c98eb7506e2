"""A self-contained HTML page: words, tables and pictures in one file."""

import base64
import html
import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 1080px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
p.lead { opacity: .75; margin-top: 0; }
figure { margin: 0; } figcaption { font-size: .82rem; opacity: .75; }
img { max-width: 100%; height: auto; border-radius: 4px; background: white; }
.grid { display: grid; gap: 14px; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { padding: .25rem .8rem; border-bottom: 1px solid #8884; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.bar { background: #2f6fde; height: .7rem; border-radius: 3px; display: inline-block; }
"""


class Page:
    """Collects the parts of a page in their order."""

    def __init__(self, title: str, lead: str) -> None:
        self._title = title
        self._parts = [f"<h1>{html.escape(title)}</h1>", f'<p class="lead">{html.escape(lead)}</p>']

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>")

    def picture(self, png: bytes | np.ndarray, caption: str = "") -> None:
        """Add one picture, the bytes of a PNG or an RGB array."""
        self._parts.append(_figure(png, caption))

    def pictures(self, pictures: Sequence[tuple[bytes | np.ndarray, str]], *, width_px: int = 300) -> None:
        """Add several pictures with captions, side by side, each at least so wide."""
        figures = "".join(_figure(png, caption) for png, caption in pictures)
        columns = f"grid-template-columns: repeat(auto-fill, minmax({width_px}px, 1fr))"
        self._parts.append(f'<div class="grid" style="{columns}">{figures}</div>')

    def table(self, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table; the first column holds words, the others numbers."""
        self._parts.append(_table(header, [[html.escape(str(cell)) for cell in row] for row in rows]))

    def bars(self, header: Sequence[str], amounts: dict[str, float]) -> None:
        """Add a table of amounts in seconds, each with a bar."""
        most = max(amounts.values(), default=1.0) or 1.0
        rows = []
        for name, amount in amounts.items():
            bar = f'<span class="bar" style="width:{14 * amount / most:.2f}rem"></span>'
            rows.append([html.escape(name), f"{amount:.1f} s", bar])
        self._parts.append(_table(header, rows).replace("<td><span", '<td style="text-align:left"><span'))

    def render(self) -> str:
        """Return the whole page."""
        body = "\n".join(self._parts)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{html.escape(self._title)}</title><style>{_STYLE}</style></head>"
            f"<body>\n{body}\n</body></html>\n"
        )


def encode_picture(picture: np.ndarray) -> bytes:
    """Return an RGB array as the bytes of a JPEG."""
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, format="JPEG", quality=90, subsampling=0)
    return stream.getvalue()


def _figure(picture: bytes | np.ndarray, caption: str) -> str:
    data = picture if isinstance(picture, bytes) else encode_picture(picture)
    kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    words = html.escape(caption)
    below = f"<figcaption>{words}</figcaption>" if caption else ""
    return f'<figure><img src="{source}" alt="{words}">{below}</figure>'


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
