"""How records read: the rules that the API and the pages share, so that both say the same words."""
