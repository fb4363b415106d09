"""Model folders: a card and safetensors; loading runs no code."""
