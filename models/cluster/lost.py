"""What is raised where a cluster cannot go on."""

from ...features.errors import AnnealedError


class WorkersLostError(AnnealedError):
    """No worker is left, or nobody knows of any."""
