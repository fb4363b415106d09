"""The paper's experiment: its methods on its datasets, with its tables and its figure."""
