"""The paper's walk through the latent space, its baselines, and what else the autoencoder tells."""
