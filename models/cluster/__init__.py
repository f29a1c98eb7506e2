"""Fits on a Dask cluster."""

from .context import current_client, distributed

__all__ = ["current_client", "distributed"]
