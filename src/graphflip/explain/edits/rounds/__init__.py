"""Rounds of a search: which moves are made, and when a stage is over."""
