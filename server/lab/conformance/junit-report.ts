import { type JunitCase, junitXml } from '../junit.ts'
import { byGroup, type ConformanceReport, sourceText } from './report.ts'
import type { Verdict } from './verdict.ts'

/** Returns the report as JUnit XML: a test suite per group, a test case per rule. */
export function junitReport({ verdicts, startedAt, milliseconds }: ConformanceReport): string {
  const suites = Array.from(byGroup(verdicts), ([name, rules]) => ({ name, cases: rules.map(caseOf) }))
  return junitXml({ name: 'conformance', startedAt, milliseconds, suites })
}

function caseOf(verdict: Verdict): JunitCase {
  const { id, sentence, source } = verdict
  return { name: `${id}: ${sentence} (${sourceText(source)})`, result: resultOf(verdict) }
}

function resultOf(verdict: Verdict): JunitCase['result'] {
  switch (verdict.outcome) {
    case 'holds':
      return 'passed'
    case 'notProvoked':
      return { skipped: verdict.reason }
    case 'broken': {
      const { expected, came, exchanges } = verdict
      const details = exchanges.map(({ sent, came: answer }) => `${sent}\n  ${answer}`).join('\n')
      return { failed: `expected ${expected}, came ${came}`, details }
    }
  }
}
