"""Numbers and lists in sentences."""

from collections.abc import Sequence


def duration(seconds: float) -> str:
    """Return a time as a person says it.

    Examples
    --------
    >>> [duration(s) for s in (0.4, 59.4, 200, 4000)]
    ['less than a second', '59 s', '3 min 20 s', '1 h 6 min']
    """
    whole = round(seconds)
    if whole < 1:
        return "less than a second"
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes < 10 else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def listed(names: Sequence[str], most: int, noun: str, plural: str = "") -> str:
    """Return names with commas between them, and of many how many more there are.

    Examples
    --------
    >>> listed(["a", "b"], 2, "file"), listed(["a", "b", "c", "d"], 2, "file")
    ('a, b', 'a, b and 2 more files')
    """
    if len(names) <= most:
        return ", ".join(names)
    return (
        ", ".join(names[:most])
        + f" and {count(len(names) - most, f'more {noun}', plural and f'more {plural}')}"
    )


def count(n: int, noun: str, plural: str = "") -> str:
    """Return a number of things.

    Examples
    --------
    >>> count(1, "photo"), count(0, "photo"), count(2, "entry", "entries")
    ('1 photo', '0 photos', '2 entries')
    """
    return f"{n} {noun if n == 1 else plural or noun + 's'}"
