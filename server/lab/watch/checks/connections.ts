import { contract, specification } from '../../conformance/verdict.ts'
import type { ClientCheck } from '../check.ts'

/** Minimum time that a client waits for an answer: a node has 4 s, and a change 5 s. In milliseconds. */
const patienceMs = 5_000
/** Duration of an answer that tests the patience of a client, in milliseconds. */
const slowMs = 2_000
/** Number of new connections in a row, one after the other, within a minute. */
const maxNewConnections = 10
const minuteMs = 60_000
/** Number of calls on one connection that prove its reuse. */
const reused = 5
/** Maximum number of calls at a time, and number of calls among which they are counted. */
const maxParallel = 64
const maxCompared = 256

/** Checks of connections and of the number of calls. */
export const connectionChecks: readonly ClientCheck[] = [
  {
    id: 'awaitsAnswers',
    source: contract('3'),
    fault: { operation: '*', delay_ms: 4_000 },
    start: () => (call) => {
      const { duration } = call.observation
      if (call.isGone) return duration >= patienceMs ? undefined : false
      return duration >= slowMs && call.ret !== undefined ? true : undefined
    },
  },
  {
    id: 'reusesConnections',
    source: contract('1'),
    start: () => {
      const calls = new WeakMap<object, number>()
      let lastEndedAt = Number.NEGATIVE_INFINITY
      let streak = 0
      let streakBeganAt = 0
      return (call) => {
        const { connection, arrivedAt } = call
        if (connection === undefined) return undefined
        const count = (calls.get(connection) ?? 0) + 1
        calls.set(connection, count)
        // Calls at the same time need connections of their own.
        const isAfterLast = arrivedAt >= lastEndedAt
        lastEndedAt = Math.max(lastEndedAt, call.endedAt)
        if (count > 1) {
          streak = 0
          return count === reused ? true : undefined
        }
        if (!isAfterLast) return undefined
        if (streak === 0 || arrivedAt - streakBeganAt > minuteMs) {
          streak = 0
          streakBeganAt = arrivedAt
        }
        streak += 1
        if (streak < maxNewConnections) return undefined
        streak = 0
        return false
      }
    },
  },
  {
    id: 'limitsParallelCalls',
    source: specification('8'),
    start: () => {
      let recent: { arrivedAt: number; endedAt: number; parallel: number }[] = []
      return ({ arrivedAt, endedAt }) => {
        // Calls under way when this one arrived; a call that arrived later and ends later counts this one.
        const one = { arrivedAt, endedAt, parallel: 1 }
        let max = 1
        for (const other of recent) {
          if (other.arrivedAt <= arrivedAt && arrivedAt < other.endedAt) one.parallel += 1
          else if (arrivedAt < other.arrivedAt && other.arrivedAt < endedAt) other.parallel += 1
          else continue
          max = Math.max(max, one.parallel, other.parallel)
        }
        recent = [...recent.slice(1 - maxCompared), one]
        if (max === 1) return undefined
        if (max <= maxParallel) return true
        // Counted once for each burst.
        recent = []
        return false
      }
    },
  },
]
