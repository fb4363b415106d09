"""What is trained: classifiers, judges, the autoencoder; how, and the folders they are kept in."""
