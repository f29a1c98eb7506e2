import base64
import io
import re

import numpy as np
from PIL import Image

from annealed.app.output.page import Page, encode_picture


def make_page():
    page = Page("A <title>", "lead & more")
    page.heading("one")
    page.text("x < y")
    page.pictures([(np.full((4, 5, 3), 200, np.uint8), "grey <1>")])
    page.table(["name", "n"], [["a&b", 3]])
    page.bars(["phase", "seconds", ""], {"scan": 2.0, "idle": 0.0})
    return page.render()


def test_page_escapes_words():
    text = make_page()
    for piece in ("A &lt;title&gt;", "lead &amp; more", "x &lt; y", "grey &lt;1&gt;", "a&amp;b"):
        assert piece in text
    assert "<title>A &lt;title&gt;</title>" in text


def test_page_holds_its_pictures():
    kind, data = re.search(r"data:image/(\w+);base64,([^\"]+)", make_page()).groups()
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert (kind, picture.size) == ("jpeg", (5, 4))
    assert abs(int(np.asarray(picture)[0, 0, 0]) - 200) < 3


def test_pictures_state_their_width():
    page = Page("t", "l")
    page.pictures([], width_px=123)
    assert "minmax(min(123px, 100%), 1fr)" in page.render()


def test_page_needs_nothing_from_elsewhere():
    assert not re.search(r"(src|href)=\"(?!data:)", make_page())


def test_bars_of_no_time_at_all():
    page = Page("t", "l")
    page.bars(["phase", "seconds", ""], {"scan": 0.0})
    page.bars(["phase", "seconds", ""], {})
    assert "0.0 s" in page.render()


def test_encode_picture_is_a_jpeg():
    assert encode_picture(np.zeros((8, 8, 3), np.uint8)).startswith(b"\xff\xd8")
