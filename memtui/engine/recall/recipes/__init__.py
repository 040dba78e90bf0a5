"""One folder or file for each way of recalling.

A module here has `RECIPES` and a line in `registry`, which is all that the rest of the engine knows of it: what differs
between two recipes is a field of `recall.recipe.Recipe`. Recipes are other programs' recalls as these compute them:
two that look alike stay apart, because they change at different times.
"""
