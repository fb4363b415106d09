"""Molecules: SMILES, SD files, RDKit objects, salts."""
