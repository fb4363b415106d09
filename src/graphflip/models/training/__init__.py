"""Training: recipes, objectives, the loop, and checkpoints from which a killed run continues exactly."""
