"""Vectors of another model: rehearsed, built, verified, switched."""
