/**
 * Place of a rule. `specification`: the API's specification, which binds every server. `contract`: what Roomdesk defines
 * where the specification is silent, and what public clients need (docs/integrate/api.md).
 */
export interface Source {
  document: 'specification' | 'contract'
  section: string
}

export const specification = (section: string): Source => ({ document: 'specification', section })
export const contract = (section: string): Source => ({ document: 'contract', section })

export function sourceText({ document, section }: Source): string {
  return `${document} ${section}`
}

/** Thrown if an answer breaks the rule that is checked. */
export class BrokenRuleError extends Error {
  override readonly name = 'BrokenRuleError'
  readonly expected: string
  readonly came: string

  constructor(expected: string, came: string) {
    super(`expected ${expected}, came ${came}`)
    this.expected = expected
    this.came = came
  }
}

/** Thrown if the condition of a rule cannot be provoked on this server. The message is the reason. */
export class NotProvokedError extends Error {
  override readonly name = 'NotProvokedError'
}

/** Begin of the reason of rules that need a call which failed. */
export const failedNeed = (operation: string): string => `this rule needs ${operation}, which failed`

/** A request and its answer as shown to people: shortened, without secrets. */
export interface ShownExchange {
  sent: string
  came: string
}

/** Outcome of a check. `exchanges`: the last exchanges before a rule was found broken. */
export type Outcome =
  | { outcome: 'holds' }
  | { outcome: 'broken'; expected: string; came: string; exchanges: readonly ShownExchange[] }
  | { outcome: 'notProvoked'; reason: string }

/** A rule with the outcome of its check. */
export type Verdict = Outcome & {
  id: string
  group: string
  sentence: string
  source: Source
}
