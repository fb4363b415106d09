"""What commutes with relabelling nodes: the equivariant linear maps, and layers made of them."""
