"""Networks: the paper's and stronger ones, each a function of a batch of graphs."""
