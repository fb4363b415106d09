"""Benchmarks: explain many graphs, measure the counterfactuals, and write tables of figures."""
