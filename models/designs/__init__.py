"""How responses and gradients are computed from each kind of data."""

from .base import Block, Design, ResidentDesign
from .binned import BinnedDesign, centred, encode, knot_means, response_tables
from .blocks import BlockDesign, OnDemandDesign, column_moments
from .dense import DenseDesign
from .sparse import SparseDesign

__all__ = [
    "BinnedDesign",
    "Block",
    "BlockDesign",
    "DenseDesign",
    "Design",
    "OnDemandDesign",
    "ResidentDesign",
    "SparseDesign",
    "centred",
    "column_moments",
    "encode",
    "knot_means",
    "response_tables",
]
