"""A photo format of one's own: a text file with `photo object keypoint x y` on every line.

>>> import tempfile
>>> from pathlib import Path
>>> import numpy as np
>>> from PIL import Image
>>> from annealed.datasets.photos.annotation_formats import READERS, read_annotations
>>> READERS["lines"] = read_lines
>>> with tempfile.TemporaryDirectory() as folder:
...     Image.fromarray(np.zeros((40, 60, 3), dtype=np.uint8)).save(Path(folder) / "one.png")
...     file = Path(folder) / "points.txt"
...     points = "snout 12 20.5", "tail 50 21", "ear ? 3"
...     _ = file.write_text("\\n".join(f"one.png mouse {point}" for point in points))
...     photos = read_annotations(file, "lines")
>>> photos.keypoint_names, photos.photos[0].points[0].tolist()
(('snout', 'tail'), [[12.0, 20.5], [50.0, 21.0]])
>>> photos.problems
('points.txt line 3: expected photo, object, keypoint, x and y',)
>>> del READERS["lines"]
"""

from pathlib import Path

from annealed.datasets.photos.photo_rows import BadRowError, PhotoRows, make_photo_set
from annealed.datasets.photos.photo_set import PhotoSet


def read_lines(path: Path) -> PhotoSet:
    """Read such a file; what cannot be used is reported and left out."""
    photos: dict[str, PhotoRows] = {}
    names: list[str] = []
    problems: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            photo, owner, keypoint, x, y = line.split()
            point = float(x), float(y)
        except ValueError:
            problems.append(f"{path.name} line {number}: expected photo, object, keypoint, x and y")
            continue
        try:
            photos.setdefault(photo, PhotoRows()).add(owner, keypoint, point)
        except BadRowError as error:
            problems.append(f"{path.name} line {number}: {error}")
            continue
        if keypoint not in names:
            names.append(keypoint)
    return make_photo_set(path, path.parent, photos, names, problems)
