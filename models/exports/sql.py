"""A fitted model as an SQL expression over the columns of a table.

Linear models are sums of products, curves are CASE expressions over their knots, as far as a model has curves
of single features. NULL in a linear model's column gives NULL. Curves are evaluated on their lines: a model
whose values are rounded to 256 codes differs from that by what half a code makes.
"""

from sklearn.utils.validation import check_is_fitted

from ...features.errors import ParameterError
from .description import describe

MOST_COLUMNS = 100


def to_sql(estimator, *, quote: str = '"') -> str | list[str]:
    """Return the expression of the response; a list of them, one for each output, where there are several.

    Parameters
    ----------
    estimator : fitted FSAClassifier, FSARegressor or FSARanker
        Of at most 100 features. The class of a classifier with two is the second where the expression is
        above zero; with more, it is that of the largest expression.
    quote : str
        What is put around the names of columns: '"' is the standard's, '`' that of MySQL.

    Raises
    ------
    ParameterError
        The model has too many features, or pairs of them, for an expression.
    """
    check_is_fitted(estimator)
    document = describe(estimator)
    if len(document["terms"]) > MOST_COLUMNS:
        raise ParameterError(
            f"an SQL expression is for models of at most {MOST_COLUMNS} features; this one has "
            f"{len(document['terms'])}"
        )
    outputs = []
    for o, intercept in enumerate(document["intercept"]):
        parts = [_number(intercept), *(_term(term, o, quote) for term in document["terms"])]
        outputs.append(" + ".join(parts))
    return outputs[0] if len(outputs) == 1 else outputs


def _term(term: dict, output: int, quote: str) -> str:
    columns = [_quoted(name, quote) for name in term["columns"]]
    if term["kind"] == "pair":
        raise ParameterError(f"pairs of features, {' and '.join(columns)} here, have no SQL expression")
    if term["kind"] == "linear":
        return f"{_number(term['coef'][output])} * {columns[0]}"
    knots, values = term["knots"][0], term["values"][output]
    if term.get("categories", [False])[0]:
        cases = [
            f"WHEN {columns[0]} = {_number(k)} THEN {_number(v)}" for k, v in zip(knots, values, strict=True)
        ]
        return f"CASE {' '.join(cases)} ELSE {_number(term['missing'][output])} END"
    return _line(columns[0], knots, values, term.get("missing", [None] * (output + 1))[output])


def _line(column: str, knots: list[float], values: list[float], missing: float | None) -> str:
    """Return a curve, linear between its knots and constant outside of them."""
    cases = [] if missing is None else [f"WHEN {column} IS NULL THEN {_number(missing)}"]
    cases.append(f"WHEN {column} <= {_number(knots[0])} THEN {_number(values[0])}")
    for i in range(len(knots) - 1):
        width = knots[i + 1] - knots[i]
        if width > 0:
            slope = (values[i + 1] - values[i]) / width
            line = f"{_number(values[i])} + {_number(slope)} * ({column} - {_number(knots[i])})"
            cases.append(f"WHEN {column} < {_number(knots[i + 1])} THEN {line}")
    # A NULL meets no condition, and must not end as the last value.
    cases.append(f"WHEN {column} >= {_number(knots[-1])} THEN {_number(values[-1])}")
    return f"CASE {' '.join(cases)} END"


def _number(value: float) -> str:
    """Write a number so that it is read back the same; what is negative in parentheses."""
    text = repr(float(value))
    text = text if any(c in text for c in ".en") else text + ".0"
    return f"({text})" if value < 0 else text


def _quoted(name: str, quote: str) -> str:
    return quote + name.replace(quote, 2 * quote) + quote
