"""The benchmark of summaries: coverage and cost in the terms of GCFExplainer and ComRecGC."""
