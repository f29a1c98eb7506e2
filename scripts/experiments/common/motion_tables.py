"""The numbers of the paper's Table 7, misclassification in percent, to print beside ours.

Columns are the methods; each row is (average, median) of a group (number of motions, category). What cannot
be read with certainty in the text at hand is `None`.
"""

COLUMNS = (
    "RankBoost train",
    "RankBoost test",
    "likelihood train",
    "likelihood test",
    "prior train",
    "prior test",
    "all train",
    "all test",
)

AVERAGE = {
    (2, "checkerboard"): (0.67, 0.74, 0.58, 0.69, 1.09, 1.28, 0.12, 0.12),
    (2, "traffic"): (0.69, 0.72, 0.80, 0.76, 4.25, 4.25, 0.59, 0.58),
    (2, "articulated"): (2.05, 2.26, 2.30, 2.27, 1.32, 1.32, 1.32, 1.32),
    (2, None): (0.80, 0.87, 0.80, 0.85, 1.93, 2.05, 0.35, 0.35),
    (3, "checkerboard"): (0.85, 2.60, 0.74, 0.74, 4.10, 4.22, 0.49, 0.49),
    (3, "traffic"): (4.15, 4.24, 1.13, 1.13, 4.05, 4.05, 1.73, 1.07),
    (3, "articulated"): (None, 18.09, 5.32, 5.32, 3.19, 3.19, 3.19, 3.19),
    (3, None): (None, 3.82, 1.08, 1.08, 4.04, 4.13, 0.90, 0.76),
    (None, None): (None, 1.54, 0.86, 0.90, 2.40, 2.52, 0.47, 0.44),
}

MEDIAN = {
    (2, "checkerboard"): (0, 0, 0, 0, 0, 0, 0, 0),
    (2, "traffic"): (0, 0, 0.15, 0, 0, 0, 0, 0),
    (2, "articulated"): (0, 0, 0, 0, 0, 0, 0, 0),
    (2, None): (0, 0, 0, 0, 0, 0, 0, 0),
    (3, "checkerboard"): (0.26, 0.26, 0.21, 0.21, 0.24, 0.24, 0.21, 0.21),
    (3, "traffic"): (0, 0.47, 0, 0, 0, 0, 0, 0),
    (3, "articulated"): (3.66, 18.09, 5.32, 5.32, 3.19, 3.19, 3.19, 3.19),
    (3, None): (0.20, 0.32, 0.20, 0.20, 0.20, 0.20, 0, 0),
    (None, None): (0, 0, 0, 0, 0, 0, 0, 0),
}
