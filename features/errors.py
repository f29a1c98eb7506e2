"""The package's exceptions.

They live on the lowest floor (`features` imports nothing of the package), so that every other
folder can raise them. The command line turns any of them into one line and exit status 2; anything
else that escapes is a bug and keeps its traceback.
"""


class AnnealedError(Exception):
    """Root of every error that a user's input can cause."""


class ParameterError(AnnealedError, ValueError):
    """An argument or option has a value that is not accepted."""


class DataError(AnnealedError, ValueError):
    """A file or an array cannot be used: unreadable, truncated, empty, of the wrong shape."""


class WriteError(DataError):
    """A result cannot be written, which is no matter of the input that it is made of."""
