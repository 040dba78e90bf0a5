"""The recall of CrewAI's memory."""
