"""What a fitted model says of single rows, and fitted models without a term or averaged."""

from copy import copy
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...features.errors import DataError, ParameterError
from ..additive import LinearModel
from ..curve_editing import average, without_terms
from ..curves import CurveModel, curves_of


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each term adds to the response of each row.

    Attributes
    ----------
    terms : tuple of str
        Names of the features; of a pair, both with " x " between.
    values : ndarray of shape (n_outputs, n_samples, n_terms), float64
    intercept : ndarray of shape (n_outputs,), float64
        Responses are the intercept and the sum over the terms.
    """

    terms: tuple[str, ...]
    values: np.ndarray
    intercept: np.ndarray


class Explains:
    """Mixed into estimators whose model is a sum of terms."""

    def explain(self, X) -> Explanation:
        """Return what each term adds to the response of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        model = self.model_  # type: ignore[attr-defined]
        values = model.terms(self._validate(X, reset=False))  # type: ignore[attr-defined]
        return Explanation(self._term_names(), np.asarray(values, dtype=np.float64), model.intercept)

    def _term_names(self) -> tuple[str, ...]:
        model, names = self.model_, self._column_names()  # type: ignore[attr-defined]
        if not isinstance(model, CurveModel):
            return tuple(str(names[j]) for j in model.features)
        return tuple(" x ".join(str(names[j]) for j in term.features) for term in model.curves)

    def without_terms(self, *terms: str):
        """Return a copy of the fitted estimator without these terms, named as `explain` names them."""
        model = self._curves()
        names = self._term_names()
        unknown = [name for name in terms if name not in names]
        if unknown:
            raise ParameterError(f"there is no term {unknown[0]!r}; there are {', '.join(names)}")
        features = [term.features for name, term in zip(names, model.curves, strict=True) if name in terms]
        return self._with_model(without_terms(model, features))

    def averaged_with(self, *others):
        """Return a copy of the fitted estimator whose response is the mean of its own and those of others.

        They have been trained on tables of the same columns. Where fits were made on several parts of the
        data, or at several places, it is one model of the same kind for all of them.
        """
        for other in others:
            alike = type(other) is type(self) and other._column_names() == self._column_names()  # type: ignore[attr-defined]
            same = np.array_equal(getattr(other, "classes_", ()), getattr(self, "classes_", ()))
            if not (alike and same and other.categories_ == self.categories_):  # type: ignore[attr-defined]
                raise DataError(
                    "models to be averaged must have the same kind, columns, categories and classes"
                )
        return self._with_model(average([self._curves(), *(other._curves() for other in others)]))

    def _curves(self) -> CurveModel:
        check_is_fitted(self)
        model = self.model_  # type: ignore[attr-defined]
        if isinstance(model, LinearModel):
            raise ParameterError('this needs an estimator fitted with response="piecewise"')
        return curves_of(model)

    def _with_model(self, model: CurveModel):
        other = copy(self)
        other._set_model(model)  # type: ignore[attr-defined]
        return other
