"""Effects of moves: learned from training graphs, and while a search goes on."""
