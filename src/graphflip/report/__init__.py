"""Something to look at: pictures and pages of explanations."""
