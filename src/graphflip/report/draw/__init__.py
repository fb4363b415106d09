"""Drawing: graphs and explanations as SVG and PNG pictures."""
