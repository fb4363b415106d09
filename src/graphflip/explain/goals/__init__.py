"""What a model is to say of a counterfactual, and how people say it."""
