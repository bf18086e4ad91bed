"""What is shown on a whole terminal and answers to keys (Textual): queues ranked live, page files down to the byte."""
