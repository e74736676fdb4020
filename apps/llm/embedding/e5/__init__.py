"""multilingual-e5-small through ONNX Runtime (docs/decisions/0074)."""
