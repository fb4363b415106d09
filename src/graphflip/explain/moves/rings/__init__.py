"""Rings of molecules, and moves that change one as a whole."""
