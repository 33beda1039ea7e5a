"""Console messages of z/OS: files of lines followed, messages recognised."""
