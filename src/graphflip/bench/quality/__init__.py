"""The quality benchmark: size, validity and believability of the counterfactuals of each method."""
