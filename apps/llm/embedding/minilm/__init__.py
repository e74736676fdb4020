"""all-MiniLM-L6-v2 through ONNX Runtime (docs/decisions/0004, docs/decisions/0005)."""
