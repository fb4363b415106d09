"""Pictures of graphs with their changes marked."""
