"""Many explanations, measured: the paper's experiment."""
