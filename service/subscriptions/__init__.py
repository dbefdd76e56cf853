"""Subscriptions: what happened after a place in the log, told in order, each once, from history and live alike.

``feeds`` says what there is to tell, ``channels`` reads and renders it once for all who ask the same, ``hub`` joins
subscribers to channels. The transports are in ``service/http``.
"""
