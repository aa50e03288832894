import { z } from 'zod'
import { isProcedureName, procedures } from '../../../shared/console/contract.ts'
import { scenarioName } from '../../../shared/console/scenarios.ts'
import { moment } from '../../../shared/domain/outcome.ts'
import { siteFileSchema } from '../../../shared/site-file.ts'
import { filledIn, operationNamed, placeholdersOf, step, type Step, valueName, worded } from './step-schema.ts'

/** Maximum length of a file, in bytes, and number of steps. */
export const maxScenarioBytes = 1024 * 1024
export const maxSteps = 1_000

const scenarioSchema = z.strictObject({
  format: z.literal('roomdesk-scenario'),
  version: z.literal(1),
  name: scenarioName,
  title: worded,
  description: worded,
  /** Seed of what is drawn: times, values and the probability of fault rules. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Records of the site at the beginning; see `--site`. */
  site: siteFileSchema.omit({ store: true }).default({}),
  /** Values that the seed draws from lists, for `${name}` in steps. */
  draw: z
    .record(
      valueName,
      z
        .array(z.union([z.string(), z.number(), z.boolean()]))
        .min(1)
        .max(100),
    )
    .default({}),
  steps: z.array(step).min(1).max(maxSteps),
  /** Events, cameras and people of a saved incident, for its reader; a run does not use them. */
  incident: z.looseObject({ from: moment, to: moment, product: z.string() }).optional(),
})
/** A scenario: the situation of a site, and what happens there on a time line. */
export type Scenario = z.output<typeof scenarioSchema>

/** A file is not a scenario. `problems` names each fault with its JSON path. */
export class ScenarioFileError extends Error {
  override readonly name = 'ScenarioFileError'
  readonly problems: readonly string[]

  constructor(message: string, problems: readonly string[] = []) {
    super([message, ...problems].join('\n  '))
    this.problems = problems
  }
}

/** Reads a scenario, and checks the input of each step by the schema of its procedure. @throws ScenarioFileError */
export function readScenario(text: string): Scenario {
  if (Buffer.byteLength(text) > maxScenarioBytes) throw new ScenarioFileError('The scenario is longer than 1 MiB.')
  let document: unknown
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // The parser's message may quote a secret.
    const place = /position \d+( \(line \d+ column \d+\))?/.exec(error instanceof Error ? error.message : '')?.[0]
    throw new ScenarioFileError(`The scenario is not JSON${place === undefined ? '' : `: a fault at ${place}`}.`)
  }
  return scenarioOf(document)
}

/** Reads a scenario from its document. @throws ScenarioFileError */
export function scenarioOf(document: unknown): Scenario {
  const read = scenarioSchema.safeParse(document)
  const problems = read.success
    ? contentProblems(read.data)
    : read.error.issues.map(({ path, message }) => `${jsonPath(path)}: ${message}`)
  if (!read.success || problems.length > 0) throw new ScenarioFileError('The scenario has bad content:', problems)
  return read.data
}

/** Returns the problems of a document whose shape is right. */
function contentProblems({ draw, site, steps }: Scenario): string[] {
  const known = new Set(Object.keys(draw))
  // Steps may be drawn in another order than they are written, so every kept value counts.
  for (const each of steps) if (each.kind !== 'wait') for (const kept of Object.keys(each.keep)) known.add(kept)
  const keys = site.credentials?.map(({ access_key }) => access_key) ?? []
  return steps.flatMap((each, index) => {
    const path: readonly PropertyKey[] = ['steps', index]
    const unknown = placeholdersOf(each).filter((name) => !known.has(name))
    return [
      ...unknown.map((name) => `${jsonPath(path)}: nothing draws or keeps \${${name}}`),
      ...inputProblems(each, draw).map(([inside, message]) => `${jsonPath([...path, ...inside])}: ${message}`),
      ...clientProblems(each, keys).map((message) => `${jsonPath([...path, 'client'])}: ${message}`),
    ]
  })
}

function clientProblems(each: Step, keys: readonly string[]): string[] {
  if (each.kind !== 'api') return []
  if (keys.length === 0) return ['site.credentials has no credential']
  return each.client === undefined || keys.includes(each.client) ? [] : ['site.credentials has no such access_key']
}

type Problem = [path: readonly PropertyKey[], message: string]

/** Checks an input with the first drawn values; values that only a run knows are not checked. */
function inputProblems(each: Step, draw: Scenario['draw']): Problem[] {
  if (each.kind === 'wait') return []
  if (each.kind === 'api') {
    const { shape } = operationNamed(each.api).params
    const names = Object.keys(each.params).filter((name) => !Object.hasOwn(shape, name))
    return names.map((name) => [['params', name], `${each.api} has no such parameter`])
  }
  const procedure = each.kind === 'call' ? each.call : each.expect
  if (!isProcedureName(procedure)) return []
  const first = (name: string): unknown => draw[name]?.[0] ?? `\${${name}}`
  const input = filledIn(each.input, first)
  return issuesOf(procedures[procedure].input, input).flatMap(({ path, message }): Problem[] => {
    const isOpen = placeholdersOf(partAt(input, path)).length > 0
    return isOpen ? [] : [[['input', ...path], message]]
  })
}

function issuesOf(schema: z.ZodType, input: unknown): readonly { path: PropertyKey[]; message: string }[] {
  const read = schema.safeParse(input)
  return read.success ? [] : read.error.issues
}

function partAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inside, key) => (typeof inside === 'object' && inside !== null ? Reflect.get(inside, key) : undefined),
    value,
  )
}

function jsonPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}.${String(part)}`),
    '$',
  )
}
