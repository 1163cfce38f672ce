"""(K, Y, G) ► Solution: each module solves the same problem by one algorithm.

problem      the objective, its optimality conditions, and what every solver returns
spectral     exact, from two decompositions; all parameters and leave-one-out from one of them
alternating  the paper's Algorithm 1, kept literal
"""
