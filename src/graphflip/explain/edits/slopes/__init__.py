"""First-order estimates of moves: one backward pass says where a graph that is no molecule should change."""
