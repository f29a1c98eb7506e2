"""Every page as a browser shows it: on a phone and on a desk, light and dark."""

import shutil
from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

from annealed.app.cli import app
from annealed.app.output.motion_page import segmentation_page
from annealed.app.output.track_page import tracks_page
from annealed.models.keypoints.videos.object_tracks import ObjectTracks

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PAGES = "training", "evaluation", "labels", "video", "segmentation"
PHONE, DESK = 390, 1280
SMALLEST_PX = 11

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(trained, photo_folder, tmp_path_factory):
    """One page of each kind, by name."""
    folder = tmp_path_factory.mktemp("pages")
    model = trained[1]
    for command in (
        ["evaluate-detector", photo_folder, "--model", model, "--out", folder / "e"],
        ["check-annotations", photo_folder, "--out", folder / "labels.html"],
    ):
        assert CliRunner().invoke(app, [str(part) for part in command]).exit_code in (0, 1)
    (folder / "video.html").write_text(_video_page(), encoding="utf-8")
    (folder / "segmentation.html").write_text(_segmentation_page(), encoding="utf-8")
    return {
        "training": model.with_name("model.safetensors.run") / "report.html",
        "evaluation": folder / "e" / "report.html",
        **{name: folder / f"{name}.html" for name in ("labels", "video", "segmentation")},
    }


def _video_page():
    rng = np.random.default_rng(0)
    points = 100 + rng.normal(0, 2, (40, 2, 3, 2)).cumsum(axis=0)
    ones = np.ones((40, 2))
    tracks = ObjectTracks(
        ("nose", "left_ear", "right_ear"), np.arange(40), points, np.ones((40, 2, 3)), ones, ones, ones < 0
    )
    return tracks_page("Two mice", "A test.", tracks, np.full((200, 300, 3), 90, np.uint8), 25.0)


def _segmentation_page():
    rows = [
        {"rank": n, "score": -n, "generator": "velocity", "parameters": {"d": n}, "disagreement": 0.1}
        for n in range(1, 40)
    ]
    document = {
        "input": "clips/traffic.mp4", "tracks": 300, "frames": 24, "motions": {"0": 200, "1": 90},
        "doubtful": 1, "outliers": 10, "margin": 0.5, "number_scores": {"2": 1.5},
        "error_of_best": 0.01,
        "candidates": rows,
    }  # fmt: skip
    return segmentation_page(document, np.full((300, 900, 3), 120, np.uint8), None)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_has_its_pictures_and_no_errors(browser, pages, name, width, scheme):
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme) as context:
        page = context.new_page()
        errors = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: errors.append(request.url))
        page.goto(pages[name].as_uri())
        assert errors == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        pictures = page.evaluate("[...document.images].map(i => [i.naturalWidth, i.alt])")
        assert all(wide > 0 and alt for wide, alt in pictures)
        assert len(pictures) > 0 or name == "labels"
        every = "[...document.body.querySelectorAll('*')]"
        sizes = page.evaluate(f"{every}.map(e => parseFloat(getComputedStyle(e).fontSize))")
        assert min(sizes) >= SMALLEST_PX
        ground, ink = page.evaluate("(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))")
        assert (_brightness(ground) > _brightness(ink)) == (scheme == "light")
        headings = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1])")
        assert headings[0] == 1
        assert headings.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(headings))


def _brightness(colour):
    """Of a colour as the browser writes it: rgb(1, 2, 3)."""
    return sum(int(part) for part in colour.strip("rgb()").split(","))


def test_wide_figures_scroll_instead_of_shrinking_on_a_phone(browser, pages):
    with browser.new_context(viewport={"width": PHONE, "height": 800}) as context:
        page = context.new_page()
        page.goto(pages["training"].as_uri())
        figures = "[...document.querySelectorAll('.scroll img')]"
        wide = page.evaluate(f"{figures}.map(i => [i.width, i.naturalWidth])")
        assert wide
        assert all(shown * 2 == pytest.approx(pixels, abs=2) for shown, pixels in wide)
