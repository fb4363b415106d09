"""Many explanations, measured."""
