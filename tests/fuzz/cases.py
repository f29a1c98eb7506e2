"""Small files of every kind that is read, and what may be done to them.

A case is a kind, and operations on the bytes of its file: (what, where, value), three numbers each, so that a
case can be drawn, shrunk and written down.
"""

import io
import json
import re
import sqlite3
import warnings
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import sparse
from scipy.io import savemat

Operation = tuple[int, int, int]

NUMBERS = [
    *(
        b"0",
        b"-1",
        b"1e400",
        b"-1e308",
        b"1e200",
        b"1e-320",
        b"nan",
        b"inf",
        b"-Infinity",
        b"null",
        b"",
        b"[]",
    ),
    *(
        b"{}",
        b'"x"',
        b"true",
        b"99999999",
        b"9223372036854775808",
        b"-9223372036854775808",
        b"1" + b"0" * 400,
    ),
    *(
        b"9" * 5000,
        "\u00b2".encode(),
        "\u0663".encode(),
        b"0x10",
        b"1_000",
        b"'",
        b'"',
        b"\x00",
        b"\xff\xfe",
        b"[" * 3000,
    ),
]
WORDS = [0, 1, 2, 7, 8, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1]


def mutated(content: bytes, operations: list[Operation]) -> bytes:
    """Apply operations to the bytes of a file, one after the other."""
    for what, where, value in operations:
        at = where % (len(content) + 1)
        content = _OPERATIONS[what % len(_OPERATIONS)](content, at, value)
    return content


def _set_byte(content, at, value):
    return content[:at] + bytes([value % 256]) + content[at + 1 :]


def _set_word(content, at, value):
    order = "little" if value % 2 else "big"
    word = WORDS[value // 2 % len(WORDS)].to_bytes(4, order)
    return content[: at & ~3] + word + content[(at & ~3) + 4 :]


def _cut(content, at, value):
    return content[:at] if value % 3 == 0 else content[:at] + content[at + 1 + value % 64 :]


def _repeat(content, at, value):
    part = content[at : at + 1 + value % 200]
    return content[:at] + part * (2 + value % 5) + content[at:]


def _swap_number(content, at, value):
    """Put something else in place of the first number from there on."""
    found = re.search(rb"-?\d+(\.\d+)?", content[at:])
    if found is None:
        return content
    return content[: at + found.start()] + NUMBERS[value % len(NUMBERS)] + content[at + found.end() :]


def _swap_word(content, at, value):
    found = re.search(rb"[A-Za-z_]{2,}", content[at:])
    if found is None:
        return content
    return content[: at + found.start()] + NUMBERS[value % len(NUMBERS)] + content[at + found.end() :]


def _insert(content, at, value):
    return content[:at] + NUMBERS[value % len(NUMBERS)] + content[at:]


def _swap_parts(content, at, value):
    """Put a part in the place of another."""
    length = 1 + value % 100
    other = value * 7919 % (len(content) + 1)
    return content[:at] + content[other : other + length] + content[at + length :]


_OPERATIONS = (_set_byte, _set_word, _cut, _repeat, _swap_number, _swap_word, _insert, _swap_parts)


def write_kinds(folder: Path) -> dict[str, Path]:
    """Write a sound file of every kind into a folder, with what belongs to it; return the files by kind."""
    rng = np.random.default_rng(0)
    kinds: dict[str, Path] = {}
    pixels = rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)
    for ending in ("jpg", "png", "gif", "bmp", "tiff", "webp", "ppm"):
        kinds[f"photo-{ending}"] = folder / f"photo.{ending}"
        Image.fromarray(pixels).save(kinds[f"photo-{ending}"])
    kinds.update(_tables(folder, rng))
    kinds.update(_rows(folder, rng))
    kinds.update(_tracks(folder, rng))
    kinds.update(_annotations(folder))
    kinds.update(_label_tools(folder))
    kinds.update(_videos(folder))
    kinds.update(_models(folder, rng))
    return kinds


def _tables(folder, rng):
    X, y = rng.standard_normal((6, 3)).round(2), np.array([0, 1, 1, 0, 1, 0])
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (folder / "table.csv").write_text("\n".join(["a,b,c,y", *lines]))
    head = (
        "@relation r\n" + "".join(f"@attribute {n} numeric\n" for n in "abc") + "@attribute y {0, 1}\n@data\n"
    )
    (folder / "table.arff").write_text(head + "\n".join(lines))
    (folder / "sparse.arff").write_text(head + "\n".join(f"{{0 {v}, 3 1}}" for v in X[:, 0].tolist()))
    rows = [f"{label} 1:{row[0]} 3:{row[2]}" for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (folder / "table.svmlight").write_text("\n".join(rows))
    np.savez_compressed(folder / "table.npz", X=X, y=y, feature_names=np.array(list("abc")))
    savemat(folder / "table.mat", {"X": X, "y": y[:, None]}, do_compression=True)
    savemat(folder / "sparse.mat", {"X": sparse.csc_array(X), "y": y[:, None]})
    savemat(folder / "table4.mat", {"X": X, "y": y[:, None]}, format="4")
    (folder / "images.idx").write_bytes(b"\0\0\x08\x03" + np.array([4, 2, 3], ">u4").tobytes() + bytes(24))
    names = (
        "table.csv table.arff sparse.arff table.svmlight table.npz table.mat sparse.mat table4.mat images.idx"
    )
    return {f"table-{name}": folder / name for name in names.split()}


def _rows(folder, rng):
    """Tables that stay on disk; a store that is a folder stands for itself by one of its files."""
    import h5py
    import pandas as pd
    import zarr

    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    np.save(folder / "rows.npy", X)
    np.save(folder / "columns.npy", np.asfortranarray(X))
    thin = sparse.csr_array(rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.4))
    sparse.save_npz(folder / "stored.npz", thin, compressed=False)
    sparse.save_npz(folder / "deflated.npz", thin)
    with h5py.File(folder / "rows.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(16, 3), compression="gzip")
        file["y"] = y
        file["feature_names"] = np.array([b"a", b"b", b"c"])
    frame = pd.DataFrame({**dict(zip("abc", X.T, strict=True)), "t": list("xy") * 20, "y": y})
    frame.to_parquet(folder / "rows.parquet", row_group_size=16)
    store = zarr.open_group(folder / "rows.zarr", mode="w")
    store.create_array("X", shape=X.shape, dtype=X.dtype, chunks=(16, 3))[:] = X
    store.create_array("y", shape=y.shape, dtype=y.dtype)[:] = y
    names = ("rows.npy", "columns.npy", "stored.npz", "deflated.npz", "rows.h5", "rows.parquet")
    parts = {"zarr.json": "X/zarr.json", "zarr-group": "zarr.json", "zarr-chunk": "X/c/0/0"}
    return {
        **{f"rows-{name}": folder / name for name in names},
        **{f"rows-{name}": folder / "rows.zarr" / part for name, part in parts.items()},
    }


def _tracks(folder, rng):
    y = np.concatenate([rng.uniform(1, 90, (2, 5, 4)), np.ones((1, 5, 4))])
    labels = np.array([[1.0], [1], [2], [2], [2]])
    savemat(folder / "a_truth.mat", {"y": y, "s": labels, "width": 100.0, "height": 90.0})
    savemat(
        folder / "multi.mat",
        {"Data": {"ySparse": y, "GtLabel": labels, "visibleSparse": y[0] > 0, "Name": "n"}},
    )
    np.savez(
        folder / "tracks.npz", positions=y[:2].transpose(1, 2, 0), labels=labels.ravel().astype(int), width=99
    )
    rows = [f"{i},{f},{y[0, i, f]:.1f},{y[1, i, f]:.1f},{i % 2}" for i in range(5) for f in range(4)]
    (folder / "tracks.csv").write_text("\n".join(["track,frame,x,y,label", *rows]))
    walk = np.cumsum(rng.standard_normal((6, 5, 2)), axis=0) + 50
    seen = rng.random((1, 6, 5)) < 0.8
    np.savez(folder / "cotracker.npz", pred_tracks=walk[None], pred_visibility=seen)
    np.savez_compressed(folder / "tapir.npz", tracks=walk.transpose(1, 0, 2), occluded=~seen[0].T)
    np.save(folder / "points.npy", walk.astype(np.float32))
    names = [
        "a_truth.mat",
        "multi.mat",
        "tracks.npz",
        "tracks.csv",
        "cotracker.npz",
        "tapir.npz",
        "points.npy",
    ]
    return {f"tracks-{name}": folder / name for name in names}


def _annotations(folder):
    document = {
        "images": [{"id": 1, "file_name": "photo.jpg", "width": 30, "height": 20}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 9, 9], "keypoints": [5, 6, 2, 7, 8, 1]},
            {"id": 2, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "iscrowd": 1},
        ],
        "categories": [{"id": 1, "name": "object", "keypoints": ["eye", "chin"]}],
    }
    (folder / "people.json").write_text(json.dumps(document))
    (folder / "keypoints.csv").write_text(
        "image,face,keypoint,x,y\nphoto.jpg,0,eye,5,6\nphoto.jpg,0,chin,7,8\n"
    )
    (folder / "faces.xml").write_text(
        "<dataset><images><image file='photo.jpg' width='30' height='20'>"
        "<box top='1' left='2' width='9' height='8'>"
        "<part name='eye' x='5' y='6'/></box></image></images></dataset>"
    )
    (folder / "cvat.xml").write_text(
        "<annotations><image id='0' name='photo.jpg' width='30' height='20'><points label='eye' points='5,6' "
        "occluded='0'/><box label='face' xtl='1' ytl='2' xbr='9' ybr='9'/></image></annotations>"
    )
    labels = "scorer,me,me\nbodyparts,eye,eye\ncoords,x,y\nlabeled-data/v/photo.jpg,5,6\n"
    (folder / "CollectedData_me.csv").write_text(labels)
    with sqlite3.connect(folder / "aflw.sqlite") as database:
        database.executescript(
            """
            CREATE TABLE Objects (face_id INTEGER, file_id TEXT);
            CREATE TABLE FaceImages (file_id TEXT, filepath TEXT, width, height);
            CREATE TABLE FaceRect (face_id INTEGER, x, y, w, h);
            CREATE TABLE FeatureCoords (face_id INTEGER, feature_id INTEGER, x, y);
            INSERT INTO Objects VALUES (1, 'f');
            INSERT INTO FaceImages VALUES ('f', 'photo.jpg', 30, 20);
            INSERT INTO FaceRect VALUES (1, 2, 3, 9, 9);
            INSERT INTO FeatureCoords VALUES (1, 8, 5, 6);
            """
        )
    database.close()
    names = ("people.json", "keypoints.csv", "faces.xml", "cvat.xml", "CollectedData_me.csv", "aflw.sqlite")
    return {f"annotation-{name}": folder / name for name in names}


def _label_tools(folder):
    """What label tools write; those that are folders have one of their own."""
    region = {"original_width": 30, "original_height": 20, "image_rotation": 0}
    box = {"x": 10.0, "y": 10.0, "width": 50.0, "height": 60.0, "rectanglelabels": ["object"]}
    point = {"x": 20.5, "y": 30.0, "width": 0.5, "keypointlabels": ["eye"]}
    result = [
        {**region, "id": "a", "type": "rectanglelabels", "value": box},
        {**region, "id": "b", "type": "rectanglelabels", "value": {**box, "rectanglelabels": ["ignore"]}},
        {**region, "id": "c", "type": "keypointlabels", "parentID": "a", "value": point},
    ]
    task = {"data": {"image": "/data/local-files/?d=photo.jpg"}, "annotations": [{"result": result}]}
    (folder / "tasks.json").write_text(json.dumps([task]))
    eye = {"label": "eye", "points": [[5.5, 6]], "shape_type": "point", "flags": {"hidden": True}}
    box = {"label": "object", "points": [[1, 2], [9, 9]], "shape_type": "rectangle", "flags": {}}
    shapes = [{**eye, "group_id": 1}, {**box, "group_id": 1}]
    document = {"version": "5.4.1", "shapes": shapes, "imagePath": "photo.jpg", "imageHeight": 20}
    (folder / "labelme.json").write_text(json.dumps(document))
    (folder / "boxes.txt").write_text("photo.jpg 2 1 2 9 9 3 4 5 6\n")
    for part in ("images", "labels"):
        (folder / "yolo" / part).mkdir(parents=True)
    (folder / "yolo" / "images" / "photo.jpg").write_bytes((folder / "photo.jpg").read_bytes())
    (folder / "yolo" / "labels" / "photo.txt").write_text("0 .5 .5 .4 .4 .2 .3 2 .6 .5 1\n")
    (folder / "yolo" / "data.yaml").write_text(
        "path: .\ntrain: images\nval: images\nkpt_shape: [2, 3]\nnames: {0: object}\n"
        "kpt_names: {0: [eye, chin]}\n"
    )
    _deeplabcut(folder)
    found = {
        "tasks.json": folder / "tasks.json",
        "labelme.json": folder / "labelme.json",
        "boxes.txt": folder / "boxes.txt",
        "data.yaml": folder / "yolo" / "data.yaml",
        "yolo-labels": folder / "yolo" / "labels" / "photo.txt",
        "dlc-config": folder / "dlc" / "config.yaml",
        "dlc-fixed.h5": folder / "CollectedData_fixed.h5",
        "dlc-table.h5": folder / "CollectedData_table.h5",
    }
    return {f"annotation-{name}": path for name, path in found.items()}


def _deeplabcut(folder):
    """A project, and the two forms of H5 that pandas writes."""
    import pandas as pd

    place = folder / "dlc" / "labeled-data" / "v"
    place.mkdir(parents=True)
    (place / "photo.jpg").write_bytes((folder / "photo.jpg").read_bytes())
    (place / "CollectedData_me.csv").write_bytes((folder / "CollectedData_me.csv").read_bytes())
    (folder / "dlc" / "config.yaml").write_text("Task: t\nscorer: me\nbodyparts: [eye]\nvideo_sets: {}\n")
    columns = pd.MultiIndex.from_product(
        [["me"], ["eye"], ["x", "y"]], names=["scorer", "bodyparts", "coords"]
    )
    frame = pd.DataFrame([[5.0, 6.0]], columns=columns, index=["labeled-data/v/photo.jpg"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of how PyTables keeps names
        for form in ("fixed", "table"):
            frame.to_hdf(folder / f"CollectedData_{form}.h5", key="df_with_missing", mode="w", format=form)


def _videos(folder):
    import cv2

    from annealed.app.output.video_file import VideoFile

    pictures = [np.full((32, 48, 3), 20 * i, np.uint8) for i in range(4)]
    with VideoFile(folder / "clip.mp4", 10) as video:
        for picture in pictures:
            video.write(picture)
    writer = cv2.VideoWriter(str(folder / "clip.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 10, (48, 32))
    for picture in pictures:
        writer.write(picture)
    writer.release()
    return {"video-mp4": folder / "clip.mp4", "video-avi": folder / "clip.avi"}


def _models(folder, rng):
    from annealed.models import FSAClassifier, FSARegressor

    X = rng.standard_normal((40, 6))
    FSAClassifier(2, random_state=0).fit(X, (X[:, 1] > 0).astype(int)).save(folder / "linear.safetensors")
    piecewise = FSARegressor(2, response="piecewise", random_state=0).fit(X, X[:, 1])
    piecewise.save(folder / "piecewise.safetensors")
    golden = Path(__file__).parents[1] / "golden"
    kinds = {
        "model-linear": folder / "linear.safetensors",
        "model-piecewise": folder / "piecewise.safetensors",
    }
    for name in ("keypoints", "object", "ranker", "hopkins155"):
        path = golden / f"{name}.safetensors"
        kinds[f"model-{name}"] = folder / path.name
        (folder / path.name).write_bytes(path.read_bytes())
    return kinds


def bomb_npz(shape=(2**14, 2**14)) -> bytes:
    """An NPZ file that unpacks to far more than it is."""
    stream = io.BytesIO()
    header = repr({"descr": "|u1", "fortran_order": False, "shape": shape}).encode() + b"\n"
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        for _ in range(shape[0] // 2**10):
            member.write(bytes(shape[1] * 2**10))
    return stream.getvalue()
