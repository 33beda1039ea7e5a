"""Console messages of z/OS: follows files of console lines and recognises the messages in them."""
