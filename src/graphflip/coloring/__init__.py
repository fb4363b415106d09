"""Weisfeiler-Leman: nodes colored by their surroundings, and graphs compared by their colors."""
