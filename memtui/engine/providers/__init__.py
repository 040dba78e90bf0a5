"""Services that a person names: how they are asked, and what they cost.

Embedders, rerankers and chat models, over HTTP or bundled; httpx is imported in this package alone. Nothing is sent
to a place that no person named, a key reaches no message or log, and a failure is an error with the service's name,
never an empty answer.
"""
