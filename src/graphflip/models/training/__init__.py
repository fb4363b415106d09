"""Training that survives a kill: recipes, objectives, checkpoints."""
