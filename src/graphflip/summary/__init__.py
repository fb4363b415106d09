"""What a model has learned: transformations that change its answer on many graphs, and how many they cover."""
