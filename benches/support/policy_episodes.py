"""Q-learning with Thompson sampling in plain Python: how many episodes a second it trains.

The same simulated process, the class `simple`: argv[1] episodes. With a second argument, NumPy draws
the random numbers in advance where it is installed. Prints episodes a second and the share of tasks
that succeed at the end.
"""

import random
import sys
import time

RATE, DISCOUNT, MOST = 0.1, 0.95, 10
PLAN, BARE, PLANNED, FIXES = 0.75, 0.60, 0.85, 0.70


def bucket(actions):
    return 0 if actions < 2 else 1 if actions < 4 else 2 if actions < 7 else 3


def act(state, agent, chance):
    plan, code, error, passed = state
    if agent == 0:
        if plan or chance >= PLAN:
            return state, -0.3 if plan else -0.1
        return (True, code, error, passed), 0.1
    if agent == 1:
        if code:
            return state, -0.3
        good = chance < (PLANNED if plan else BARE)
        return (plan, "good" if good else "bad", error, False), 0.2
    if agent == 2:
        if code == "good":
            return (plan, code, False, True), 9.9
        return (plan, code, True, False), -0.1 if not error else -0.3
    good = chance < FIXES
    return (plan, "good" if good else "bad", False, False), -0.1


def main():
    episodes = int(sys.argv[1])
    draw, beta = random.random, random.betavariate
    if len(sys.argv) > 2:
        import numpy

        generator = numpy.random.default_rng(1)
        pool = iter(())

        def draw():
            nonlocal pool
            value = next(pool, None)
            if value is None:
                pool = iter(generator.random(100_000).tolist())
                value = next(pool)
            return value

        beta = generator.beta
    values, trials = {}, {}
    started, succeeded = time.perf_counter(), 0
    for _ in range(episodes):
        state, path, actions = (False, "", False, False), [], 0
        while True:
            seen = (state[0], bool(state[1]), state[2], bucket(actions))
            agents = [0, 1] + ([2] if state[1] else []) + ([3] if state[2] else [])
            known = values.setdefault(seen, [0.0] * 4)
            counts = trials.setdefault(seen, [[1.0, 1.0] for _ in range(4)])
            visits = sum(sum(count) - 2 for count in counts)
            if visits > 1000 and draw() * visits >= 1000:
                agent = max(agents, key=known.__getitem__)
            else:
                agent = max(agents, key=lambda it: beta(*counts[it]))
            path.append((seen, agent))
            state, reward = act(state, agent, draw())
            actions += 1
            if state[3]:
                target = reward
            elif actions >= MOST:
                target = reward - 5.0
            else:
                after = (state[0], bool(state[1]), state[2], bucket(actions))
                best = values.get(after)
                target = reward + DISCOUNT * (max(best) if best else 0.0)
            known[agent] += RATE * (target - known[agent])
            if state[3] or actions >= MOST:
                break
        succeeded += state[3]
        for seen, agent in path:
            trials[seen][agent][0 if state[3] else 1] += 1.0
    print(episodes / (time.perf_counter() - started), succeeded / episodes)


main()
