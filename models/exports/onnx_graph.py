"""A fitted model as an ONNX graph with the numbers of the model itself, in float64.

    X (n, n_features) -> response (n, n_outputs); of a classifier also probabilities and label

A linear model is a product of matrices. A curve or a surface is looked up: where each value lies among the
knots, then the values at the places below and above. A model whose values are rounded to codes has a table of
256 responses for each feature.
"""

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...features.codes import CODE_MAX, code_scale
from ...features.errors import ParameterError
from ..additive import LinearModel, PiecewiseModel
from ..curves import Axis, CurveModel, Term
from ..whole_files import write_whole

OPSET = 17  # the operators are those of 2022, which every runtime of today knows
IR_VERSION = 8
Output = tuple[str, str, int | None]  # name, type, and numbers a row (None: one, without an axis of its own)


def to_onnx(estimator, path: str | os.PathLike) -> None:
    """Write a fitted estimator as an ONNX file.

    Parameters
    ----------
    estimator : fitted FSAClassifier, FSARegressor or FSARanker
    path : path-like

    Raises
    ------
    ParameterError
        The package `onnx` is not installed.
    """
    check_is_fitted(estimator)
    try:
        import onnx
    except ImportError:
        raise ParameterError("to_onnx needs the package onnx: pip install annealed[onnx]") from None
    graph = _Graph(onnx, estimator.n_features_in_)
    response = _responses(graph, estimator.model_)
    graph.name("response", response)
    outputs: list[Output] = [("response", "DOUBLE", len(estimator.model_.intercept))]
    if hasattr(estimator, "classes_"):
        outputs += _classes(graph, estimator, response)
    write_whole(path, graph.model(outputs).SerializeToString())


class _Graph:
    """Nodes and constants of a graph in the making; a value is known by its name."""

    def __init__(self, onnx, n_features: int) -> None:
        self.onnx = onnx
        self.n_features = n_features
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value) -> str:
        """Add a constant, whose type is that of the array."""
        name = f"c{len(self.constants)}"
        array = np.asarray(value)
        if array.dtype.kind in "US":
            array = array.astype(object)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs, **attributes) -> str:
        """Add an operation on values, or on arrays that become constants; return the name of its result."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        result = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, names, [result], **attributes))
        return result

    def name(self, name: str, value: str) -> None:
        """Give a value the name of an output."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))

    def cast(self, value: str, kind: str) -> str:
        """Turn a value into another type."""
        return self.add("Cast", value, to=getattr(self.onnx.TensorProto, kind))

    def model(self, outputs: list[Output]):
        """Return the model of all that was added."""
        helper, types = self.onnx.helper, self.onnx.TensorProto
        described = [
            helper.make_tensor_value_info(name, getattr(types, kind), ["n"] if size is None else ["n", size])
            for name, kind, size in outputs
        ]
        given = helper.make_tensor_value_info("X", types.DOUBLE, ["n", self.n_features])
        graph = helper.make_graph(self.nodes, "annealed", [given], described, self.constants)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
        self.onnx.checker.check_model(model)
        return model


def _responses(graph: _Graph, model) -> str:
    """Return the value (n, n_outputs) of the responses."""
    if isinstance(model, LinearModel):
        columns = graph.add("Gather", "X", model.features, axis=1)
        return graph.add("Add", graph.add("MatMul", columns, model.coef.T.copy()), model.intercept)
    if isinstance(model, PiecewiseModel):
        terms = _coded_terms(graph, model) if model.quantised else _line_terms(graph, model)
    else:
        assert isinstance(model, CurveModel)
        terms = [_term(graph, term) for term in model.curves]
    total = graph.add("Mul", graph.add("Gather", "X", np.array([0]), axis=1), np.zeros(1))
    # What is missing, or infinite, times zero is not zero.
    total = graph.add(
        "Add", graph.add("Where", graph.add("IsNaN", total), np.zeros(1), total), model.intercept
    )
    for term in terms:
        total = graph.add("Add", total, term)
    return total


def _column(graph: _Graph, feature: int) -> str:
    """Return one column, (n,)."""
    return graph.add("Gather", "X", np.array(feature), axis=1)


def _coded_terms(graph: _Graph, model: PiecewiseModel) -> list[str]:
    """Look the codes of each feature up in its table."""
    low, high, scale = code_scale(model.low / 2, model.high / 2, np.float64)
    terms = []
    for j, feature in enumerate(model.features.tolist()):
        halved = graph.add("Mul", _column(graph, feature), np.array(0.5))
        clipped = graph.add("Min", graph.add("Max", halved, low[j]), high[j])
        scaled = graph.add("Mul", graph.add("Sub", clipped, low[j]), scale[j])
        code = graph.add(
            "Min", graph.cast(graph.add("Add", scaled, np.array(0.5)), "INT64"), np.array(CODE_MAX)
        )
        terms.append(graph.add("Gather", model.tables[:, j].T.astype(np.float64), code, axis=0))
    return terms


def _line_terms(graph: _Graph, model: PiecewiseModel) -> list[str]:
    """Look the values of each feature up on the line through its knots."""
    terms = []
    for j, feature in enumerate(model.features.tolist()):
        knots, values = np.unique(model.knots()[j], return_index=True)
        at_knots = model.values[:, j, values]
        nothing = np.zeros((len(at_knots), 1))
        weights = np.zeros(len(knots) + 1)
        terms.append(_term(graph, Term((Axis(feature, knots),), np.hstack([at_knots, nothing]), weights)))
    return terms


def _term(graph: _Graph, term: Term) -> str:
    """Return a curve or a surface, (n, n_outputs)."""
    places = [_locate(graph, axis) for axis in term.axes]
    table = term.values.reshape(len(term.values), -1).T.copy()  # (places, n_outputs)
    if len(places) == 1:
        place, above, share = places[0]
        return _between(graph, _at(graph, table, place), _at(graph, table, above), share)
    (a, next_a, share_a), (b, next_b, share_b) = places
    width = np.array(len(term.axes[1]))
    rows = []
    for i in (a, next_a):
        first = graph.add("Mul", i, width)
        below, above = (_at(graph, table, graph.add("Add", first, j)) for j in (b, next_b))
        rows.append(_between(graph, below, above, share_b))
    return _between(graph, rows[0], rows[1], share_a)


def _at(graph: _Graph, table: np.ndarray, place: str) -> str:
    return graph.add("Gather", table, place, axis=0)


def _between(graph: _Graph, below: str, above: str, share: str) -> str:
    """Return below + share * (above - below), with a share for each row."""
    share = graph.add("Unsqueeze", share, np.array([1]))
    return graph.add("Add", below, graph.add("Mul", share, graph.add("Sub", above, below)))


def _locate(graph: _Graph, axis: Axis) -> tuple[str, str, str]:
    """Return the places below and above each value, and the share of the one above, as `Axis.locate` does."""
    x, knots, n = _column(graph, axis.feature), axis.knots, len(axis.knots)
    rows = graph.add("Unsqueeze", x, np.array([1]))
    if axis.is_category:
        equal = graph.cast(graph.add("Equal", rows, knots), "INT64")
        # What is equal to no knot is missing: its place is n.
        place = graph.add(
            "Add",
            graph.add("ReduceSum", graph.add("Mul", equal, np.arange(n) - n), np.array([1]), keepdims=0),
            np.array(n),
        )
        return place, place, graph.add("Mul", graph.cast(place, "DOUBLE"), np.array(0.0))
    missing = graph.add("IsNaN", x)
    known = graph.add("Where", missing, knots[0], x)
    clipped = graph.add("Min", graph.add("Max", known, knots[0]), knots[-1])
    reached = graph.cast(
        graph.add("GreaterOrEqual", graph.add("Unsqueeze", clipped, np.array([1])), knots), "INT64"
    )
    place = graph.add("Sub", graph.add("ReduceSum", reached, np.array([1]), keepdims=0), np.array(1))
    above = graph.add("Min", graph.add("Add", place, np.array(1)), np.array(n - 1))
    low = graph.add("Gather", 0.5 * knots, place)
    # A knot that is the last one has no width, and no value lies beyond it.
    widths = np.append(0.5 * knots[1:] - 0.5 * knots[:-1], 1.0)
    beyond = graph.add("Sub", graph.add("Mul", clipped, np.array(0.5)), low)
    share = graph.add("Div", beyond, graph.add("Gather", widths, place))
    place, above = (graph.add("Where", missing, np.array(n), value) for value in (place, above))
    return place, above, share


def _classes(graph: _Graph, estimator, response: str) -> list[Output]:
    """Add probabilities and labels; return what they are."""
    classes = estimator.classes_
    outputs: list[Output] = []
    two = len(estimator.model_.intercept) == 1
    if hasattr(estimator, "ramp_"):
        graph.name("probabilities", _probabilities(graph, response, estimator.ramp_, two))
        outputs.append(("probabilities", "DOUBLE", len(classes)))
    if two:
        column = graph.add("Squeeze", response, np.array([1]))
        number = graph.cast(graph.add("Greater", column, np.array(0.0)), "INT64")
    else:
        number = graph.add("ArgMax", response, axis=1, keepdims=0)
    kind = {"U": "STRING", "O": "STRING", "f": "DOUBLE", "b": "BOOL"}.get(classes.dtype.kind, "INT64")
    values = classes.astype(np.int64) if kind == "INT64" else classes
    graph.name("label", graph.add("Gather", values, number))
    return [*outputs, ("label", kind, None)]


def _probabilities(graph: _Graph, response: str, ramp: np.ndarray, two: bool) -> str:
    below = graph.add("Mul", graph.add("Min", response, np.array(0.0)), ramp[0])
    above = graph.add("Mul", graph.add("Max", response, np.array(0.0)), ramp[1])
    logit = graph.add("Add", graph.add("Add", below, above), ramp[2])
    if two:
        signed = graph.add("Concat", graph.add("Neg", logit), logit, axis=1)
        return _sigmoid(graph, signed)
    # Normalised by the largest one first: all may be too small to be told from zero.
    smaller = graph.add("Min", logit, np.array(0.0))
    shrunk = graph.add("Exp", graph.add("Neg", graph.add("Abs", logit)))
    logarithm = graph.add("Sub", smaller, graph.add("Log", graph.add("Add", shrunk, np.array(1.0))))
    return graph.add("Softmax", logarithm, axis=1)


def _sigmoid(graph: _Graph, logit: str) -> str:
    """Return 1 / (1 + exp(-logit)) without overflow."""
    shrunk = graph.add("Exp", graph.add("Neg", graph.add("Abs", logit)))
    is_positive = graph.add("GreaterOrEqual", logit, np.array(0.0))
    above = graph.add("Where", is_positive, np.array(1.0), shrunk)
    return graph.add("Div", above, graph.add("Add", shrunk, np.array(1.0)))
