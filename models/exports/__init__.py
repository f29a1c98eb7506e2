"""Fitted models for other programs: JSON, an SQL expression, an ONNX graph."""
