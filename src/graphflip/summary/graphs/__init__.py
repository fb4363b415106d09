"""Counterfactual graphs that stand for many inputs, because they are near them."""
