"""What the commands answer: one class for each JSON object, and for each list the columns of its table.

The schemas in ``schemas/json`` are made from the classes: each module has a table ``ANSWERS`` from the name of a schema
to the class, or the classes, of which an answer is one.
"""
