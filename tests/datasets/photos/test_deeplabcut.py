"""Projects of DeepLabCut, written here as the program writes them."""

import pickle

import numpy as np
import pytest
from PIL import Image

from annealed.datasets.photos.annotation_formats import format_of, read_annotations
from annealed.datasets.photos.deeplabcut import read_deeplabcut
from annealed.features.errors import DataError

PARTS = ("snout", "tailbase")


def write_labels(folder, scorer="ada", video="clip", n=3, size=(40, 30), header=None, rows=None):
    """Pictures, and a CSV of two body parts; frame i has the snout at (i, 5) and the tail at (20, i)."""
    place = folder / "labeled-data" / video
    place.mkdir(parents=True, exist_ok=True)
    for i in range(n):
        Image.new("RGB", size, (i * 9, 80, 90)).save(place / f"img{i:03}.png")
    header = header or [
        ["scorer", "", "", *[scorer] * 4],
        ["bodyparts", "", "", *[part for part in PARTS for _ in "xy"]],
        ["coords", "", "", *"xyxy"],
    ]
    rows = rows or [["labeled-data", video, f"img{i:03}.png", i, 5, 20, i] for i in range(n)]
    text = "\n".join(",".join(map(str, row)) for row in header + rows)
    (place / f"CollectedData_{scorer}.csv").write_text(text + "\n")
    return folder


@pytest.fixture
def project(tmp_path):
    (tmp_path / "config.yaml").write_text("Task: reach\nscorer: ada\nbodyparts:\n- snout\n- tailbase\n")
    write_labels(tmp_path, video="one")
    return write_labels(tmp_path, video="two", n=2, size=(60, 50))


@pytest.mark.parametrize("place", [".", "config.yaml", "labeled-data"])
def test_a_project_is_recognised_and_read_as_it_is(project, place):
    path = project / place
    assert format_of(path) == "deeplabcut"
    photos = read_annotations(path)
    assert photos.problems == ()
    assert photos.keypoint_names == PARTS
    assert [photo.name for photo in photos] == [
        "one/img000.png", "one/img001.png", "one/img002.png", "two/img000.png", "two/img001.png",
    ]  # fmt: skip
    assert photos.photos[2].points.tolist() == [[[2, 5], [20, 2]]]
    assert photos.photos[4].read().shape == (50, 60, 3)


def test_the_folder_of_one_video_is_read(project):
    photos = read_annotations(project / "labeled-data" / "two")
    assert [photo.name for photo in photos] == ["img000.png", "img001.png"]


def test_a_project_without_config_is_read(project):
    (project / "config.yaml").unlink()
    assert format_of(project) == "deeplabcut"
    assert len(read_annotations(project)) == 5


def test_a_broken_config_is_reported_and_the_labels_are_read(project):
    (project / "config.yaml").write_text("scorer: [ada\n")
    photos = read_annotations(project)
    assert len(photos) == 5
    assert "not YAML" in photos.problems[0]


def test_the_scorer_of_the_config_is_chosen(project):
    write_labels(project, scorer="bob", video="one")
    write_labels(project, scorer="bob", video="two", n=2)
    photos = read_annotations(project)
    assert len(photos) == 5
    assert "labels of ada are used, those of bob left out" in " ".join(photos.problems)
    (project / "config.yaml").write_text("scorer: bob\n")
    assert "labels of bob are used" in " ".join(read_annotations(project).problems)


def test_without_config_the_scorer_of_the_most_videos_is_chosen(project):
    (project / "config.yaml").unlink()
    write_labels(project, scorer="bob", video="one")
    photos = read_annotations(project)
    assert len(photos) == 5
    assert "labels of ada are used" in " ".join(photos.problems)


def test_two_scorers_in_one_file(tmp_path):
    header = [
        ["scorer", "ada", "ada", "bob", "bob"],
        ["bodyparts", *["snout"] * 4],
        ["coords", *"xyxy"],
    ]
    write_labels(tmp_path, n=1, header=header, rows=[["labeled-data/clip/img000.png", 1, 2, 3, 4]])
    photos = read_annotations(tmp_path)
    assert photos.photos[0].points.tolist() == [[[1, 2]]]
    assert "those of bob left out" in photos.problems[0]


def test_several_animals(tmp_path):
    header = [
        ["scorer", "", "", *["ada"] * 6],
        ["individuals", "", "", *["mus1"] * 2, *["mus2"] * 2, *["single"] * 2],
        ["bodyparts", "", "", *["snout"] * 4, *["corner"] * 2],
        ["coords", "", "", *"xyxyxy"],
    ]
    rows = [
        ["labeled-data", "clip", "img000.png", 1, 2, 3, 4, 9, 9],
        ["labeled-data", "clip", "img001.png", "", "", 5, 6, "", ""],
    ]
    photos = read_annotations(write_labels(tmp_path, n=2, header=header, rows=rows))
    assert [photo.object_names for photo in photos] == [("mus1", "mus2", "single"), ("mus2",)]
    assert photos.photos[1].points[0, 0].tolist() == [5, 6]


def test_missing_frames_and_frames_without_labels_are_left_out_with_a_word(project):
    (project / "labeled-data" / "one" / "img001.png").unlink()
    path = project / "labeled-data" / "two" / "CollectedData_ada.csv"
    path.write_text(path.read_text().replace("img000.png,0,5,20,0", "img000.png,,,nan,NaN"))
    photos = read_annotations(project)
    assert [photo.name for photo in photos] == ["one/img000.png", "one/img002.png", "two/img001.png"]
    problems = " ".join(photos.problems)
    assert "img001.png: no such photo" in problems
    assert "1 frames without any label are left out" in problems


def test_a_keypoint_that_is_never_visible_is_kept(tmp_path):
    rows = [["labeled-data", "clip", f"img{i:03}.png", i, 5, "", ""] for i in range(3)]
    photos = read_annotations(write_labels(tmp_path, rows=rows))
    assert photos.keypoint_names == PARTS
    assert np.isnan([photo.points[:, 1] for photo in photos]).all()


def test_one_bad_file_among_several_is_reported(project):
    (project / "labeled-data" / "one" / "CollectedData_ada.csv").write_bytes(b"\xff\xfe\x00")
    photos = read_annotations(project)
    assert len(photos) == 2
    assert "not a CSV file" in photos.problems[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "header rows"),
        ("scorer,ada\nbodyparts,snout\ncoords,x\nimg000.png,1\n", "no usable photo"),
        ("scorer\nbodyparts\ncoords\nimg000.png\n", "no usable photo"),
        ("scorer,a,a\nbodyparts,s,s\ncoords,x,y\nimg000.png,nan,nan\n", "no usable photo"),
        ("scorer,a,a\nbodyparts,s,s\ncoords,x,y\nimg000.png,1\n", "line 4 has 2 cells"),
    ],
)
def test_labels_that_cannot_be_used_end_in_one_line(project, text, message):
    for file in project.glob("labeled-data/*/*.csv"):
        file.write_text(text)
    with pytest.raises(DataError, match=message):
        read_annotations(project)


def make_frame(n_index=3):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("tables")
    columns = pd.MultiIndex.from_product(
        [["ada"], PARTS, ["x", "y"]], names=["scorer", "bodyparts", "coords"]
    )
    index = [("labeled-data", "clip", f"img{i:03}.png") for i in range(3)]
    index = pd.MultiIndex.from_tuples(index) if n_index == 3 else ["/".join(cells) for cells in index]
    values = [[i, 5.0, 20.0, np.nan if i == 1 else i] for i in range(3)]
    return pd.DataFrame(np.array(values, dtype=float), index=index, columns=columns)


@pytest.mark.parametrize(("n_index", "form"), [(3, "fixed"), (1, "fixed"), (1, "table")])
@pytest.mark.filterwarnings("ignore")  # pandas of how PyTables keeps names
def test_h5_says_the_same_as_csv(tmp_path, n_index, form):
    pytest.importorskip("h5py")
    write_labels(tmp_path)
    csv = tmp_path / "labeled-data" / "clip" / "CollectedData_ada.csv"
    make_frame(n_index).to_hdf(csv.with_suffix(".h5"), key="df_with_missing", mode="w", format=form)
    csv.unlink()
    photos = read_annotations(tmp_path)
    assert photos.problems == ()
    assert photos.keypoint_names == PARTS
    np.testing.assert_array_equal(photos.photos[1].points, [[[1, 5], [np.nan, np.nan]]])
    assert len(read_deeplabcut(csv.with_suffix(".h5"))) == 3


def test_h5_without_the_table_ends_in_one_line(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "CollectedData_ada.h5"
    with h5py.File(path, "w") as file:
        file["other"] = np.zeros(3)
    with pytest.raises(DataError, match="no table of labels"):
        read_deeplabcut(path)


def test_what_is_not_h5_ends_in_one_line(tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "CollectedData_ada.h5").write_bytes(b"\x89HDF\r\n\x1a\n and no more")
    with pytest.raises(DataError, match="not a table of DeepLabCut"):
        read_deeplabcut(tmp_path / "CollectedData_ada.h5")


def test_code_in_an_h5_file_is_not_run(tmp_path):
    h5py = pytest.importorskip("h5py")

    class Payload:
        def __reduce__(self):
            return (tmp_path.joinpath("run").write_text, ("x",))

    path = tmp_path / "CollectedData_ada.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("df_with_missing")
        group["table"] = np.zeros(2, dtype=[("index", "S4"), ("values_block_0", "f8", (2,))])
        group.attrs["non_index_axes"] = np.void(pickle.dumps(Payload()))
    with pytest.raises(DataError, match="its header holds"):
        read_deeplabcut(path)
    assert not (tmp_path / "run").exists()


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "n", "part"), [("openfield", 86, "snout"), ("reaching", 40, "Joystick2")])
def test_real_projects(data_folder, name, n, part):
    folder = data_folder / "animals" / name
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    assert format_of(folder) == "deeplabcut"
    photos = read_annotations(folder)
    assert len(photos) == n
    assert photos.problems == ()
    assert part in photos.keypoint_names


@pytest.mark.parametrize(
    "header",
    [
        b"\x80\x02]r\xff\xff\xff\xff.",  # numbers its list 2^32 - 1: room for as many
        pickle.dumps([(1, [[["a"], "b", "x"]])]),
        b"\x80\x02cos\nsystem\n.",
    ],
)
def test_a_pickled_header_of_anything_but_texts_is_refused(tmp_path, header):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "CollectedData_ada.h5"
    records = np.zeros(1, dtype=[("index", "S9"), ("values_block_0", float, (3,))])
    with h5py.File(path, "w") as file:
        group = file.create_group("df_with_missing")
        group["table"] = records
        group.attrs["non_index_axes"] = np.void(header)
    with pytest.raises(DataError, match="not a table of DeepLabCut"):
        read_deeplabcut(path)
