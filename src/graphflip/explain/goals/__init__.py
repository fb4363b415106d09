"""Goals: what a model must predict for a counterfactual, and the words that people type for it."""
