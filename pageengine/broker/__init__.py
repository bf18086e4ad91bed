"""The broker: its stores and queues, bindings, routing, transactions and settling."""
