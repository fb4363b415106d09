"""How small, believable and valid counterfactuals are, method by method."""
