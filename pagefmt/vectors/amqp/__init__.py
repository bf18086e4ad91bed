"""AMQP messages of a page as columns."""
