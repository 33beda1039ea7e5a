"""What retention deletes, by topic: samples with all that is made of them, and everything else."""
