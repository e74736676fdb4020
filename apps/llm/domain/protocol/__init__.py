"""Tool requests in the output of a model: the ABP and VCP protocols (spec 000, DESIGN section 6)."""
