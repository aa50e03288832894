import XMLBuilder from 'fast-xml-builder'
import { byGroup, type ConformanceReport, countOutcomes, sourceText } from './report.ts'
import type { Verdict } from './verdict.ts'

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  format: true,
  suppressBooleanAttributes: false,
})

/** Returns the report as JUnit XML, as CI systems read it: a test suite per group, a test case per rule. */
export function junitReport({ verdicts, startedAt, milliseconds }: ConformanceReport): string {
  const suites = [...byGroup(verdicts)].map(([group, cases]) => ({
    '@name': group,
    ...totals(cases),
    '@timestamp': startedAt,
    testcase: cases.map(testCase),
  }))
  const all = {
    '@name': 'conformance',
    ...totals(verdicts),
    '@time': (milliseconds / 1_000).toFixed(3),
    testsuite: suites,
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build({ testsuites: all })}`
}

function totals(verdicts: readonly Verdict[]): Record<string, number> {
  const { broken, notProvoked } = countOutcomes(verdicts)
  return { '@tests': verdicts.length, '@failures': broken, '@errors': 0, '@skipped': notProvoked }
}

function testCase(verdict: Verdict): Record<string, unknown> {
  const { id, group, sentence, source } = verdict
  const named = { '@classname': group, '@name': `${id}: ${sentence} (${sourceText(source)})` }
  switch (verdict.outcome) {
    case 'holds':
      return named
    case 'notProvoked':
      return { ...named, skipped: { '@message': verdict.reason } }
    case 'broken': {
      const { expected, came, exchanges } = verdict
      const traffic = exchanges.map(({ sent, came: answer }) => `${sent}\n  ${answer}`).join('\n')
      return { ...named, failure: { '@message': `expected ${expected}, came ${came}`, '#text': traffic } }
    }
  }
}
