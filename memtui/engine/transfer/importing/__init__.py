"""From records to rows: the plan, the write, the resume."""
