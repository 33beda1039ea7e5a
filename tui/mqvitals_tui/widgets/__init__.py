"""What the screens are made of: widgets that paint what the view models say, line by line, and only what is seen."""
