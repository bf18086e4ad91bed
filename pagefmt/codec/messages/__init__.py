"""Messages by protocol: core, AMQP, properties, bodies; the old formats in files of their own."""
