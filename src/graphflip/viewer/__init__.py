"""The viewer: a local web page on which a person explains a graph, looks at the answer and tries changes."""
