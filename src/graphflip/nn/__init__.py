"""Permutation-equivariant layers: the 15 equivariant linear maps of pairs, message passing, and layers made of them."""
