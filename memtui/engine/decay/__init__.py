"""Formulas of decay, tiers and validity.

Pure functions of numbers and metadata, each as its program computes it: no clock, no store, no setting is read here.
A constant changes only with the program whose it is; `recall/proof_formulas` has its own on purpose.
"""
