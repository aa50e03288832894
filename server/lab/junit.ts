import XMLBuilder from 'fast-xml-builder'

/** A check in a JUnit report. */
export interface JunitCase {
  name: string
  result: 'passed' | { skipped: string } | { failed: string; details?: string }
}

interface JunitSuite {
  name: string
  cases: readonly JunitCase[]
}

/** A JUnit report. */
interface JunitReport {
  name: string
  /** Start, in ISO 8601. */
  startedAt: string
  milliseconds: number
  suites: readonly JunitSuite[]
}

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  format: true,
  suppressBooleanAttributes: false,
})

/** Returns a report as JUnit XML, as CI systems read it. */
export function junitXml({ name, startedAt, milliseconds, suites }: JunitReport): string {
  const all = {
    '@name': name,
    ...totals(suites.flatMap(({ cases }) => cases)),
    '@time': (milliseconds / 1_000).toFixed(3),
    testsuite: suites.map((suite) => ({
      '@name': suite.name,
      ...totals(suite.cases),
      '@timestamp': startedAt,
      testcase: suite.cases.map((each) => testCase(suite.name, each)),
    })),
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build({ testsuites: all })}`
}

function totals(cases: readonly JunitCase[]): Record<string, number> {
  const count = (kind: 'failed' | 'skipped'): number =>
    cases.filter(({ result }) => typeof result === 'object' && kind in result).length
  return { '@tests': cases.length, '@failures': count('failed'), '@errors': 0, '@skipped': count('skipped') }
}

function testCase(suite: string, { name, result }: JunitCase): Record<string, unknown> {
  const named = { '@classname': suite, '@name': name }
  if (result === 'passed') return named
  if ('skipped' in result) return { ...named, skipped: { '@message': result.skipped } }
  const { failed, details } = result
  return { ...named, failure: { '@message': failed, ...(details !== undefined && { '#text': details }) } }
}
