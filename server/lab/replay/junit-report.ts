import { type JunitCase, junitXml } from '../junit.ts'
import type { ReplayedCall } from './replay.ts'
import { callTitle, differenceLines, failureText, isAlike, type ReplayReport } from './report.ts'

/** Returns the report as JUnit XML: a test suite per operation, a test case per call. */
export function junitReport({ replayed, startedAt, took }: ReplayReport): string {
  const byOperation = Map.groupBy(replayed, ({ call }) => call.operation)
  const suites = Array.from(byOperation, ([name, calls]) => ({ name, cases: calls.map(caseOf) }))
  return junitXml({ name: 'replay', startedAt, milliseconds: took, suites })
}

function caseOf(replayed: ReplayedCall): JunitCase {
  return { name: callTitle(replayed), result: resultOf(replayed) }
}

function resultOf(replayed: ReplayedCall): JunitCase['result'] {
  const { call, ret } = replayed
  if (isAlike(replayed)) return 'passed'
  if (ret === undefined) return { failed: failureText(replayed) }
  if (ret !== call.ret) return { failed: `ret ${call.ret} was recorded, ${ret} came` }
  return { failed: 'other fields', details: differenceLines(replayed).join('\n') }
}
