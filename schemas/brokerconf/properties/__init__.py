"""Effect of each entry of ``broker.properties``: beans, entries of collections, values, faults."""
