"""Synthetic sets whose right counterfactuals are known."""
