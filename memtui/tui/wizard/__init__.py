"""A task in steps: its form, its plan, its run and its report."""
