"""How responses and gradients are computed from each kind of data."""

from .binned import BinnedDesign, knot_means
from .dense import DenseDesign
from .design import Block, Design, ResidentDesign
from .sparse import SparseDesign
from .streamed import BlockDesign, OnDemandDesign, column_moments

__all__ = [
    "BinnedDesign",
    "Block",
    "BlockDesign",
    "DenseDesign",
    "Design",
    "OnDemandDesign",
    "ResidentDesign",
    "SparseDesign",
    "column_moments",
    "knot_means",
]
