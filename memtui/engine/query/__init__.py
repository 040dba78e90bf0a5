"""The filter language: one parser for the app and the command line.

    term := [-] ( field op value | "quoted phrase" | word | ~semantic words | /regex/ )

White space is *and*, `|` is *or*, parentheses group. `parse` makes a tree in which everything carries
its span, `compile` turns the tree into a mask over the catalog, `chips`, `complete` and `remedies` are
for people who are still typing. Only `compile`, `terms` and `remedies` need numpy.
"""
