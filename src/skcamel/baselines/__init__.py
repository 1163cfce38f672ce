"""The five methods of the paper's comparison."""
