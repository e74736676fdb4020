"""all-MiniLM-L6-v2 through ONNX Runtime (docs/adr/0004, docs/adr/0005)."""
