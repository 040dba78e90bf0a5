"""What memtui kept on disk in former versions, and how it was recorded."""
