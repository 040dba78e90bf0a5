"""The table of all actions and what is made from it: key bar, help, palette, keymaps."""
