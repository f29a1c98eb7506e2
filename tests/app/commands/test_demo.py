import pytest

from annealed.app.commands import demo
from annealed.models.model_files import load_model


@pytest.fixture
def small(monkeypatch):
    """The demo with fewer photos and features."""
    from annealed.models.keypoints.training.classifier_fitting import FitConfig
    from annealed.models.keypoints.training.config import TrainingConfig
    from annealed.models.keypoints.training.refinement_fitting import RefineConfig

    config = TrainingConfig(
        rounds=1,
        n_hard=80,
        n_random=400,
        n_haar=100,
        validation=0.2,
        fit=FitConfig(k=15, n_iter=40),
        refine=RefineConfig(k=10, n_iter=30),
    )
    monkeypatch.setattr(demo, "N_TRAINING", 5)
    monkeypatch.setattr(demo, "N_TEST", 1)
    monkeypatch.setattr(demo, "_config", lambda: config)


@pytest.mark.usefixtures("small")
def test_demo_writes_a_model_and_a_page_with_its_pictures(annealed, tmp_path):
    out = tmp_path / "new" / "folder"
    result = annealed("demo", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert {p.name for p in out.iterdir() if p.name[0] != "."} == {
        "index.html", "demo.safetensors", "clip.mp4",
    }  # fmt: skip
    assert load_model(out / "demo.safetensors").keypoint_names == demo.KEYPOINTS
    page = (out / "index.html").read_text()
    # the photos and the portrait; and for each keypoint features, responses, two sheets and the curve
    assert page.count("data:image/") >= 2 + 2 * 4
    assert "Where the time went" in page
    assert "face model: 1 face in the portrait" in result.stdout
    assert "motions: 2 motions found" in result.stdout
    for name in demo.KEYPOINTS:
        assert f"{name}: found" in result.stdout


def test_demo_out_cannot_be_made(annealed, tmp_path):
    (tmp_path / "file").touch()
    result = annealed("demo", "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
