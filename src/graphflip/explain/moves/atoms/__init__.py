"""Rules for nodes that moves change: no molecules, charges derived by a rule, or charges stored."""
