"""Claims about an answer: what each change is needed for, what is smaller, where the classifier is unsure."""
