"""Messages sent to a running broker over AMQP 1.0."""
